import { shorten, showAccount } from './account.js';
import { ApiError, ask, askForMessage, readInfo, signIn } from './api.js';
import { makeCopy } from './copy.js';
import { byId, create, onButton, showFact } from './element.js';
import { announce, hideProblem, showProblem } from './messages.js';
import { createSnippets } from './snippets.js';
import { showSnippets } from './tabs.js';
import { connect, discoverWallets, sign, WalletProblem } from './wallets.js';

/**
 * All that the page knows. It is kept nowhere else: who closes the page is signed out.
 * @type {{
 *   info?: import('./api.js').Info,
 *   wallet?: import('./wallets.js').Wallet,
 *   address: string,
 *   chainId: number,
 *   token: string,
 *   newKeyId?: string,
 * }}
 */
const state = { address: '', chainId: 1, token: '' };

/** @typedef {'connect' | 'sign' | 'use'} Step */

/**
 * Shows the sections of a step, and leads keyboard and screen reader there.
 * @param {Step} step
 * @param {string[]} sections
 */
function show(step, ...sections) {
  for (const section of document.querySelectorAll('main > section')) {
    /** @type {HTMLElement} */ (section).hidden = !sections.includes(section.id);
  }
  const steps = ['connect', 'sign', 'use'];
  for (const item of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('[data-step]'))) {
    const place = steps.indexOf(item.dataset.step ?? '') - steps.indexOf(step);
    item.className = place < 0 ? 'done' : '';
    if (place === 0) item.setAttribute('aria-current', 'step');
    else item.removeAttribute('aria-current');
  }
  byId(`${sections[0]}-title`).focus();
}

/**
 * Runs what a button does, one at a time, and tells what went wrong.
 * @param {string} doing what a person reads meanwhile
 * @param {() => Promise<void>} act
 */
async function run(doing, act) {
  if (document.body.ariaBusy === 'true') return;
  hideProblem();
  announce(doing);
  document.body.ariaBusy = 'true';
  try {
    await act();
    if (byId('status').textContent === doing) announce('');
  } catch (error) {
    if (error instanceof ApiError && error.code === 'invalid_session') {
      // A key that is in sight stays there: it is shown this once.
      show('sign', 'sign', ...(byId('key').hidden ? [] : ['key']));
    }
    const known = error instanceof ApiError || error instanceof WalletProblem;
    showProblem(known ? error.message : 'Something went wrong on this page. Please load it again.');
    if (!known) throw error;
  } finally {
    document.body.ariaBusy = 'false';
  }
}

/** @param {import('./wallets.js').Wallet} wallet */
function showWallet(wallet) {
  const { name, icon } = wallet.info;
  const image = icon.startsWith('data:image/')
    ? [create('img', { src: icon, alt: '', width: '28', height: '28' })]
    : [];
  const button = create('button', { type: 'button' }, ...image, name);
  button.addEventListener('click', () =>
    run(`${name} asks whether this page may see your address.`, async () => {
      Object.assign(state, { wallet, ...(await connect(wallet)) });
      showFact('address', shorten(state.address));
      show('sign', 'sign');
    }),
  );
  wallet.provider.on?.('accountsChanged', () => {
    // Before the signature another account may be meant; after it the page speaks of the one that has signed.
    if (state.wallet === wallet && state.token === '') show('connect', 'connect');
  });
  byId('wallets').append(create('li', {}, button));
  if (document.activeElement === byId('look-again')) button.focus();
  byId('no-wallet').hidden = true;
  announce('');
}

function showNoWallet() {
  announce(byId('no-wallet').hidden ? '' : 'There is still none.');
  byId('no-wallet').hidden = false;
}

/** @param {'link' | 'manage'} purpose */
function signFor(purpose) {
  const { wallet, address, chainId } = state;
  if (!wallet) return;
  run(`Look at ${wallet.info.name}: it shows you the message to sign.`, async () => {
    const { message } = await askForMessage({ address, chainId, purpose });
    const signature = await sign(wallet, address, message);
    announce('Signed. One moment…');
    const account = await signIn(purpose, { message, signature });
    state.token = account.session?.token ?? '';
    showResult(account);
    if (account.key === null) {
      showProblem(
        `Your network is linked, but this wallet has ${account.keysAllowed} keys already: no other was made. Revoke one to make room.`,
      );
    }
  });
}

/** @param {import('./api.js').Account} account */
function showResult(account) {
  const { info } = state;
  if (!info) return;
  refresh(account);
  if (!account.key) {
    announce('You are signed in.');
    return show('use', 'account');
  }
  const { key, id } = account.key;
  state.newKeyId = id;
  byId('key-text').textContent = key;
  showSnippets(createSnippets({ ...info, key }));
  refresh(account);
  announce('Here is your key.');
  show('use', 'key', 'account');
}

/** @param {import('./api.js').Account} account */
function refresh(account) {
  showAccount(account, { newKeyId: state.newKeyId, onRevoke: revoke });
}

const revoke = (/** @type {string} */ id) =>
  run('Revoking…', async () => {
    refresh(await ask(state.token, 'keys/revoke', { id }));
    if (id === state.newKeyId) byId('key').hidden = true;
    announce('Revoked. Within a minute the key is refused everywhere.');
    byId('keys-title').focus();
  });

makeCopy(/** @type {HTMLElement} */ (document.querySelector('[data-copy]')), () => byId('key-text').textContent ?? '');
for (const button of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('[data-sign]'))) {
  button.addEventListener('click', () => signFor(button.dataset.sign === 'link' ? 'link' : 'manage'));
}
onButton('disconnect', () => show('connect', 'connect'));
onButton('refresh', () =>
  run('Asking…', async () => {
    refresh(await ask(state.token, 'keys'));
    announce(`${byId('remaining').textContent} requests left today.`);
  }),
);
onButton('new-key', () => run('Making a key…', async () => showResult(await ask(state.token, 'keys/issue'))));
onButton('link-network', () =>
  run('Linking…', async () => {
    refresh(await ask(state.token, 'network'));
    announce('Linked.');
  }),
);
const lookAgain = discoverWallets(showWallet, showNoWallet);
onButton('look-again', () => {
  announce('Looking for wallets…');
  lookAgain();
});

run('', async () => {
  state.info = await readInfo();
  showFact('network', state.info.network);
  showFact('quota', `${state.info.memberLimit} requests a day, without an account or an email address.`);
});
