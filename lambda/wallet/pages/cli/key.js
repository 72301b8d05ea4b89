import { byId } from './element.js';
import { createSnippets } from './snippets.js';
import { showSnippets } from './tabs.js';

/** The id of the key on show. It is shown only once, so it stays until it is revoked or another wallet connects. */
let shownId = '';

export const shownKeyId = () => shownId;

/**
 * @param {import('./api.js').Info} info
 * @param {{ key: string, id: string }} issued
 */
export function showKey(info, { key, id }) {
  shownId = id;
  byId('key-text').textContent = key;
  showSnippets(createSnippets({ ...info, key }));
}

export function forgetKey() {
  shownId = '';
  byId('key').hidden = true;
  byId('key-text').textContent = '';
  byId('snippets').replaceChildren();
}
