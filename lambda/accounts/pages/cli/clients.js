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
 */
export function showClients(access) {
  const groups = snippetGroups(access);
  snippets = groups.flatMap(({ members }) => members);
  if (choice.options.length === 0) {
    for (const { title, members } of groups) {
      const options = members.map((member) => create('option', { value: member.id }, member.title));
      choice.append(create('optgroup', { label: title }, ...options));
    }
  }
  byId('clients-hint').textContent =
    access.key === placeholderKey ? `Put your key in place of ${placeholderKey}.` : 'Your key is filled in.';
  byId('clients').hidden = false;
  showChosen();
}

function showChosen() {
  const blocks = snippets.find(({ id }) => id === choice.value)?.blocks ?? [];
  byId('snippets').replaceChildren(...blocks.map(toBlock));
}

/** @param {import('./snippet.js').Block} block */
function toBlock({ title, text }) {
  const button = copyButton(title, () => text);
  const head = create('div', { class: 'block-head' }, create('h3', {}, title), button);
  return create('div', { class: 'block' }, head, create('pre', {}, create('code', {}, text)));
}
