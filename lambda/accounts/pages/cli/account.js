import { byId, create } from './element.js';

/** @typedef {import('./api.js').Account} Account */

/**
 * What the buttons of a key do.
 * @typedef {{ newKeyId: string, onRenew: (id: string) => Promise<void>, onRevoke: (id: string) => Promise<void> }} Handlers
 */

/**
 * Shows what a member has: keys, requests, the network's link.
 * @param {Account} account
 * @param {Handlers} handlers
 */
export function showAccount({ quota, keys, keysAllowed, link }, handlers) {
  const full = keys.length >= keysAllowed;
  byId('keys-hint').textContent =
    keys.length === 0
      ? 'You have none yet. One key serves every terminal, SDK and coding agent.'
      : `You may have ${keysAllowed}${full ? ': revoke one to make room for another.' : '.'} A revoked key stops within a minute.`;
  byId('keys').replaceChildren(...keys.map((key) => toItem(key, handlers)));
  const newKey = /** @type {HTMLButtonElement} */ (byId('new-key'));
  newKey.disabled = full;
  // While a new key waits to be copied, that comes first.
  newKey.className = handlers.newKeyId === '' ? 'primary' : 'quiet';

  showQuota(quota);
  if (link) showLink(link);
}

/** @param {Account['quota']} quota */
function showQuota({ limit, remaining, resetSeconds, budget }) {
  byId('remaining').textContent = `${remaining} of ${limit}`;
  const meter = /** @type {HTMLMeterElement} */ (byId('meter'));
  meter.max = Math.max(1, limit);
  meter.value = remaining;
  byId('reset').textContent =
    `All your keys share them. There are ${limit} again in ${inWords(resetSeconds)}, at 00:00 UTC.`;
  byId('budget').hidden = budget === undefined;
  byId('by-model').hidden = !budget?.models.length;
  if (budget) {
    const { currency, models } = budget;
    byId('budget').textContent =
      `${budget.remaining} of ${budget.limit} ${currency} are left to spend this ${budget.window}, which ends in ${inWords(budget.resetSeconds)}.`;
    const used = models.map(({ id, inputTokens, outputTokens, spent }) =>
      create('li', {}, `${id}: ${inputTokens} tokens in and ${outputTokens} out for ${spent} ${currency}`),
    );
    byId('by-model').replaceChildren(...used);
  }
}

/** @param {NonNullable<Account['link']>} link */
function showLink({ network, expiresAt }) {
  const code = create('code', {}, network);
  byId('link-text').replaceChildren(
    ...(expiresAt === null
      ? [code, ' is not linked: only your keys use up your requests.']
      : [
          code,
          ` is linked until ${showTime(expiresAt)}: everyone on it counts as you, with any word in place of a key.`,
        ]),
  );
  const [here, there] = network.includes(':') ? ['IPv6', 'IPv4'] : ['IPv4', 'IPv6'];
  byId('link-hint').textContent =
    `Your browser comes here over ${here}. A terminal that comes over ${there} is on another network: use a key there. A key works everywhere.`;
  byId('link-network').textContent =
    expiresAt === null ? 'Lend my requests to everyone on it for 24 hours' : 'Lend them for 24 hours from now';
}

/**
 * A key with its buttons, of which one asks before it acts.
 * @param {Account['keys'][number]} key
 * @param {Handlers} handlers
 */
function toItem({ id, createdAt, label, expiresAt, renewable }, { newKeyId, onRenew, onRevoke }) {
  const head = create(
    'span',
    { class: 'key-name' },
    ...(label ? [create('strong', {}, label)] : []),
    create('code', {}, id),
    ...(id === newKeyId ? [create('b', {}, 'new')] : []),
  );
  const until = expiresAt === undefined ? '' : `, expires ${showTime(expiresAt)}`;
  const about = create('span', {}, head, create('small', {}, showTime(createdAt) + until));
  const actions = create('span', { class: 'key-actions' });
  const hidden = () => create('span', { class: 'sr-only' }, ` ${id}`);
  const renew = create('button', { type: 'button', class: 'quiet' }, 'Renew', hidden());
  const revoke = create('button', { type: 'button', class: 'danger quiet' }, 'Revoke', hidden());
  const sure = create('button', { type: 'button', class: 'danger' }, 'Yes, revoke', hidden());
  const keep = create('button', { type: 'button', class: 'quiet' }, 'Keep');
  const offered = renewable ? [renew, revoke] : [revoke];
  revoke.addEventListener('click', () => {
    actions.replaceChildren(sure, keep);
    keep.focus();
  });
  keep.addEventListener('click', () => {
    actions.replaceChildren(...offered);
    revoke.focus();
  });
  sure.addEventListener('click', () => onRevoke(id));
  renew.addEventListener('click', () => onRenew(id));
  actions.append(...offered);
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
