import { create } from './element.js';
import { announce } from './messages.js';

/**
 * A button that copies a text.
 * @param {string} what for those who don't see what stands below it
 * @param {() => string} read
 */
export function copyButton(what, read) {
  const button = create(
    'button',
    { type: 'button', class: 'copy' },
    'Copy',
    create('span', { class: 'sr-only' }, ` ${what}`),
  );
  makeCopy(button, read);
  return button;
}

/**
 * Makes a button copy a text, and say so for a moment.
 * @param {HTMLElement} button
 * @param {() => string} read
 */
export function makeCopy(button, read) {
  const before = [...button.childNodes];
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  button.addEventListener('click', async () => {
    const copied = await copy(read());
    announce(copied ? 'Copied.' : 'The browser does not let this page copy. Select the text and copy it yourself.');
    button.replaceChildren(copied ? 'Copied' : 'Select it');
    clearTimeout(timer);
    timer = setTimeout(() => button.replaceChildren(...before), 2000);
  });
}

/**
 * Whether it was copied: browsers know no clipboard on a page that came over plain http from another machine.
 * @param {string} text
 */
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
