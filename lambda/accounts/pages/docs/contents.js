/** @type {NodeListOf<HTMLAnchorElement>} */
const links = document.querySelectorAll('.contents a');

/** Marks the link to the section that is read. */
function mark(/** @type {string | null} */ id) {
  for (const link of links) {
    if (link.hash === `#${id}`) link.setAttribute('aria-current', 'true');
    else link.removeAttribute('aria-current');
  }
}

// That is the one that lies across a line in the upper part of the window.
const observer = new IntersectionObserver(
  (entries) => {
    const read = entries.find(({ isIntersecting }) => isIntersecting);
    if (read) mark(read.target.getAttribute('aria-labelledby'));
  },
  { rootMargin: '-20% 0px -79% 0px' },
);
const sections = document.querySelectorAll('main > section');
for (const section of sections) observer.observe(section);
mark(sections[0]?.getAttribute('aria-labelledby') ?? null);
