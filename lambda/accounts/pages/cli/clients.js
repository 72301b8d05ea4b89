import { copyButton } from './copy.js';
import { byId, create } from './element.js';
import { placeholderKey } from './snippet.js';
import { snippetGroups } from './snippets.js';

/** @type {import('./snippet.js').Snippet[]} */
let snippets = [];

const choice = /** @type {HTMLSelectElement} */ (byId('client'));
choice.addEventListener('change', showChosen);

/**
 * Lists the clients, and shows the blocks of the chosen one.
 * @param {import('./snippet.js').Access} access
 * @param {string} hint what is to be said of the key in them
 */
export function showClients(access, hint) {
  const groups = snippetGroups(access);
  snippets = groups.flatMap(({ members }) => members);
  if (choice.options.length === 0) {
    for (const { title, members } of groups) {
      const options = members.map((member) => create('option', { value: member.id }, member.title));
      choice.append(create('optgroup', { label: title }, ...options));
    }
  }
  byId('clients-hint').textContent = hint;
  byId('clients').hidden = false;
  showChosen();
}

/** The id of the key on show. It is shown only once, so it stays until it is revoked or another wallet connects. */
let shownId = '';

export const shownKeyId = () => shownId;

/**
 * Shows a new key, and fills it in for the clients.
 * @param {import('./api.js').Info} info
 * @param {{ key: string, id: string }} issued
 */
export function showKey(info, { key, id }) {
  shownId = id;
  byId('key-text').textContent = key;
  const toCome = `A new key is filled in here. One that you have goes in place of ${placeholderKey}.`;
  showClients({ ...info, key: key || placeholderKey }, key ? 'Your key is filled in.' : toCome);
}

/** @param {import('./api.js').Info} info */
export function forgetKey(info) {
  byId('key').hidden = true;
  showKey(info, { key: '', id: '' });
}

function showChosen() {
  const blocks = snippets.find(({ id }) => id === choice.value)?.blocks ?? [];
  byId('snippets').replaceChildren(...blocks.map(toBlock));
}

/** @param {import('./snippet.js').Block} block */
function toBlock({ title, text }) {
  const button = copyButton(title, () => text);
  const head = create('div', { class: 'block-head' }, create('h3', {}, title), button);
  // Those without a mouse must be able to scroll it.
  const frame = create('pre', { tabindex: '0', role: 'group', 'aria-label': title }, text);
  return create('div', { class: 'block' }, head, frame);
}
