/** The links to the page's sections, by the id that each leads to. */
const links = new Map(
  [.../** @type {NodeListOf<HTMLAnchorElement>} */ (document.querySelectorAll('.contents a'))].map((link) => [
    link.hash.slice(1),
    link,
  ]),
);

// The current section is the one that lies across a line in the upper part of the window.
const observer = new IntersectionObserver(
  (entries) => {
    const current = entries.find(({ isIntersecting }) => isIntersecting);
    const id = current?.target.getAttribute('aria-labelledby');
    if (!id) return;
    for (const [target, link] of links) {
      if (target === id) link.setAttribute('aria-current', 'true');
      else link.removeAttribute('aria-current');
    }
  },
  { rootMargin: '-20% 0px -79% 0px' },
);
for (const section of document.querySelectorAll('main > section')) observer.observe(section);
