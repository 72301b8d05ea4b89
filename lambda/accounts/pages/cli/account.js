import { byId, create } from './element.js';

/** @typedef {import('./api.js').Account} Account */

/**
 * Shows what a wallet has: requests, its network's link, its keys.
 * @param {Account} account
 * @param {{ newKeyId: string, onRevoke: (id: string) => Promise<void> }} more
 */
export function showAccount({ wallet, quota, keys, keysAllowed, link }, { newKeyId, onRevoke }) {
  byId('remaining').textContent = `${quota.remaining} of ${quota.limit}`;
  const meter = /** @type {HTMLMeterElement} */ (byId('meter'));
  meter.max = Math.max(1, quota.limit);
  meter.value = quota.remaining;
  byId('reset').textContent = `in ${inWords(quota.resetSeconds)}`;

  const { budget } = quota;
  byId('budget').hidden = budget === undefined;
  if (budget) {
    byId('budget').textContent =
      `${budget.remaining} of ${budget.limit} ${budget.currency} are left to spend this ${budget.window}, which ends in ${inWords(budget.resetSeconds)}.`;
  }

  byId('account-title').textContent = wallet === null ? 'Your account' : 'Your wallet';
  byId('network').hidden = link === null;
  if (link) showLink(link);

  const full = keys.length >= keysAllowed;
  byId('keys-hint').textContent =
    keys.length === 0
      ? 'There are none.'
      : `A revoked key stops within a minute. You may have ${keysAllowed} keys${full ? ': revoke one to make room for another.' : '.'}`;
  const renewable = keys.filter((key) => key.renewable);
  byId('renew-keys').hidden = renewable.length === 0;
  const items = keys.map((key) =>
    toItem(key, { isNew: key.id === newKeyId, renews: renewable.includes(key), onRevoke }),
  );
  byId('keys').replaceChildren(...items);
  /** @type {HTMLButtonElement} */ (byId('new-key')).disabled = full;
}

/** @param {NonNullable<Account['link']>} link */
function showLink({ network, expiresAt }) {
  const code = create('code', {}, network);
  byId('link-text').replaceChildren(
    ...(expiresAt === null
      ? ['You are on ', code, ', which is not linked to this wallet.']
      : [code, ` counts as you until ${showTime(expiresAt)}, with any word in place of a key.`]),
  );
  const [here, there] = network.includes(':') ? ['IPv6', 'IPv4'] : ['IPv4', 'IPv6'];
  byId('link-hint').textContent =
    `Your browser comes here over ${here}. A terminal that comes over ${there} is on another network: use a key there. A key works everywhere.`;
  byId('link-network').textContent = expiresAt === null ? 'Link it for 24 hours' : 'Start the 24 hours anew';
}

/**
 * A key with its button, which asks before it acts.
 * @param {Account['keys'][number]} key
 * @param {{ isNew: boolean, renews: boolean, onRevoke: (id: string) => Promise<void> }} more
 */
function toItem({ id, createdAt, label, expiresAt }, { isNew, renews, onRevoke }) {
  const head = create(
    'span',
    { class: 'key-name' },
    ...(label ? [create('strong', {}, label)] : []),
    create('code', {}, id),
    ...(isNew ? [create('b', {}, 'new')] : []),
  );
  const until = expiresAt === undefined ? '' : `, expires ${showTime(expiresAt)}`;
  const about = create('span', {}, head, create('small', {}, showTime(createdAt) + until));
  if (renews) {
    const tick = create('input', { type: 'checkbox', name: 'renew', value: id });
    about.append(create('label', {}, tick, ' renew', create('span', { class: 'sr-only' }, ` ${id}`)));
  }
  const actions = create('span', { class: 'key-actions' });
  const hidden = () => create('span', { class: 'sr-only' }, ` ${id}`);
  const revoke = create('button', { type: 'button', class: 'danger quiet' }, 'Revoke', hidden());
  const sure = create('button', { type: 'button', class: 'danger' }, 'Yes, revoke', hidden());
  const keep = create('button', { type: 'button', class: 'quiet' }, 'Keep');
  revoke.addEventListener('click', () => {
    actions.replaceChildren(sure, keep);
    keep.focus();
  });
  keep.addEventListener('click', () => {
    actions.replaceChildren(revoke);
    revoke.focus();
  });
  sure.addEventListener('click', () => onRevoke(id));
  actions.append(revoke);
  return create('li', {}, about, actions);
}

/** `0x1234…abcd`, as wallets write it. */
export function shorten(/** @type {string} */ address) {
  return `${address.slice(0, 6)}…${address.slice(-4)}`;
}

/** In the reader's own time and language. */
function showTime(/** @type {string} */ time) {
  return new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' }).format(new Date(time));
}

function inWords(/** @type {number} */ seconds) {
  const minutes = Math.ceil(seconds / 60);
  if (minutes > 2 * 24 * 60) return `${Math.floor(minutes / 24 / 60)} days`;
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
