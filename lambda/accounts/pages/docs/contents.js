import { byId, create } from '../cli/element.js';
import { announce } from '../cli/messages.js';

/** @type {NodeListOf<HTMLAnchorElement>} */
const links = document.querySelectorAll('.contents a');

/** Marks the link to the section that is read. */
function mark(/** @type {string} */ id) {
  for (const link of links) {
    if (link.hash === `#${id}`) link.setAttribute('aria-current', 'true');
    else link.removeAttribute('aria-current');
  }
}

/** What the contents call a section. */
const idOf = (/** @type {Element} */ section) => section.getAttribute('aria-labelledby')?.replace(/-title$/, '') ?? '';

// That is the one that lies across a line in the upper part of the window.
const observer = new IntersectionObserver(
  (entries) => {
    const read = entries.find(({ isIntersecting }) => isIntersecting);
    if (read) mark(idOf(read.target));
  },
  { rootMargin: '-20% 0px -79% 0px' },
);
const sections = document.querySelectorAll('main > section');
for (const section of sections) observer.observe(section);
if (sections[0]) mark(idOf(sections[0]));

/** Opens what an address leads to. Some browsers do so by themselves. */
function reveal() {
  const target = document.getElementById(location.hash.slice(1));
  for (let part = target?.closest('details'); part; part = part.parentElement?.closest('details')) part.open = true;
  target?.scrollIntoView();
}

/** Lets a browser's search find what is closed, which not all of them do by themselves. */
const openAll = create('button', { type: 'button', class: 'link' }, 'Open every part, to search the page');
openAll.addEventListener('click', () => {
  for (const part of document.querySelectorAll('details')) part.open = true;
  announce('Every part is open.');
});
byId('open-all').append(openAll);
byId('open-all').hidden = false;

addEventListener('hashchange', reveal);
reveal();
