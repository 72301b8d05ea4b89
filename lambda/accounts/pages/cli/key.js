import { showClients } from './clients.js';
import { byId } from './element.js';
import { placeholderKey } from './snippet.js';

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
  showClients({ ...info, key });
}

/** @param {import('./api.js').Info} info */
export function forgetKey(info) {
  shownId = '';
  byId('key').hidden = true;
  byId('key-text').textContent = '';
  showClients({ ...info, key: placeholderKey });
}
