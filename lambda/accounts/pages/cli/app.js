import { shorten, showAccount } from './account.js';
import { ask, readInfo, signIn } from './api.js';
import { forgetKey, showKey, shownKeyId } from './clients.js';
import { finishCompanySignIn, leaveForCompany, takeReturn } from './company.js';
import { makeCopy } from './copy.js';
import { byId, inputById, onButton, showFact } from './element.js';
import { announce, createRun, showProblem } from './messages.js';
import { connect, listWallets, sign, watchAccount } from './wallets.js';

/**
 * The page's whole state. It is kept nowhere else, so closing the page signs you out.
 * @type {{
 *   info?: import('./api.js').Info,
 *   wallet?: import('./wallets.js').Wallet,
 *   address: string,
 *   token: string,
 * }}
 */
const state = { address: '', token: '' };

/** @typedef {'connect' | 'sign' | 'account'} Step */

/**
 * Shows the sections of a step, and moves keyboard and screen reader there.
 * @param {Step} step
 * @param {string[]} sections
 */
function show(step, ...sections) {
  byId('welcome').hidden = step === 'account';
  byId('signed-in').hidden = step !== 'account';
  for (const section of document.querySelectorAll('main > section:not(#clients)')) {
    /** @type {HTMLElement} */ (section).hidden = !sections.includes(section.id);
  }
  const steps = ['connect', 'sign', 'account'];
  for (const item of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('[data-step]'))) {
    const place = steps.indexOf(item.dataset.step ?? '') - steps.indexOf(step);
    item.className = place < 0 ? 'done' : '';
    if (place === 0) item.setAttribute('aria-current', 'step');
    else item.removeAttribute('aria-current');
  }
  byId(`${sections[0]}-title`).focus();
}

const run = createRun((code) => {
  if (code !== 'invalid_session') return;
  state.token = '';
  if (state.wallet) show('sign', 'sign', ...keySection());
  else show('connect', ...waysToSignIn(), ...keySection());
});

/** The sections for those who are not signed in. */
const waysToSignIn = () => (state.info?.signIn ?? []).map((way) => (way === 'company' ? 'company' : 'connect'));

const keySection = () => (shownKeyId() === '' ? [] : ['key']);

/** The facts shown before anyone has signed. Asked for again if they did not arrive. */
async function loadInfo() {
  if (state.info) return state.info;
  const info = await readInfo();
  showFact('network', info.network);
  const withoutAccount = info.signIn.includes('company') ? '' : ', without an account or an email address';
  showFact('quota', `${info.memberLimit} requests a day${withoutAccount}.`);
  forgetKey(info);
  state.info = info;
  return info;
}

/** @param {import('./wallets.js').Wallet} wallet */
function connectTo(wallet) {
  run(`${wallet.info.name} asks whether this page may see your address.`, async () => {
    const info = await loadInfo();
    const address = await connect(wallet);
    if (!isAddress(address)) forgetKey(info);
    Object.assign(state, { wallet, address });
    showFact('address', shorten(address));
    show('sign', 'sign', ...keySection());
  });
}

/** @param {import('./wallets.js').Wallet} wallet */
function watch(wallet) {
  watchAccount(wallet, (address) => {
    // Before the signature the person may mean another account; afterwards the page shows the one that signed.
    if (state.wallet !== wallet || state.token !== '' || isAddress(address)) return;
    show('connect', 'connect');
    announce(`Another account was chosen in ${wallet.info.name}. Connect it to go on.`);
  });
}

/** Whether this is the account that is connected; some wallets write it in lower case. */
const isAddress = (/** @type {string} */ address = '') => address.toLowerCase() === state.address.toLowerCase();

/** @param {'link' | 'manage'} purpose */
function signFor(purpose) {
  const { wallet, address } = state;
  if (!wallet) return;
  run(`Look at ${wallet.info.name}: it shows you the message to sign.`, async () => {
    const signed = await sign(wallet, address, purpose);
    announce('Signed. One moment…');
    const account = await signIn(purpose, { ...signed, label: '' });
    state.token = account.session?.token ?? '';
    await showResult(account);
    if (account.key === null) {
      showProblem(
        `Your network is linked, but this wallet has ${account.keysAllowed} keys already, so no new one was made. Revoke one to make room.`,
      );
    }
  });
}

/** @param {import('./api.js').Account} account */
async function showResult(account) {
  const { key, link } = account;
  if (key) {
    showKey(await loadInfo(), key);
    inputById('new-label').value = '';
  }
  refresh(account);
  announce(key ? 'Here is your key.' : 'You are signed in.');
  const sections = ['account', 'usage', ...(link ? ['network'] : [])];
  if (key) show('account', 'key', ...sections);
  else show('account', ...sections, ...keySection());
}

/** @param {import('./api.js').Account} account */
function refresh(account) {
  showAccount(account, { newKeyId: shownKeyId(), onRenew: renew, onRevoke: revoke });
}

const renew = (/** @type {string} */ id) =>
  run('Renewing…', async () => {
    refresh(await ask(state.token, 'keys/renew', { ids: [id] }));
    announce('Renewed.');
    byId('keys-title').focus();
  });

const revoke = (/** @type {string} */ id) =>
  run('Revoking…', async () => {
    const account = await ask(state.token, 'keys/revoke', { id });
    if (id === shownKeyId()) forgetKey(await loadInfo());
    refresh(account);
    announce('Revoked. Within a minute the key is refused everywhere.');
    byId('keys-title').focus();
  });

makeCopy(/** @type {HTMLElement} */ (document.querySelector('[data-copy]')), () => byId('key-text').textContent ?? '');
for (const button of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('[data-sign]'))) {
  button.addEventListener('click', () => signFor(button.dataset.sign === 'link' ? 'link' : 'manage'));
}
onButton('disconnect', () => run('', async () => show('connect', ...waysToSignIn())));
// All that keeps a person signed in is this page's memory.
onButton('sign-out', () => location.reload());
onButton('refresh', () =>
  run('Asking…', async () => {
    refresh(await ask(state.token, 'keys'));
    announce(`${byId('remaining').textContent} requests left today.`);
  }),
);
byId('new-key-form').addEventListener('submit', (event) => {
  event.preventDefault();
  run('Making a key…', async () =>
    showResult(await ask(state.token, 'keys/issue', { label: inputById('new-label').value })),
  );
});
onButton('link-network', () =>
  run('Linking…', async () => {
    refresh(await ask(state.token, 'network'));
    announce('Linked.');
  }),
);
// Only the ways that the deployment offers are on the page.
if (document.getElementById('connect')) listWallets(connectTo, watch);
if (document.getElementById('company')) {
  onButton('company-sign-in', () => run('Your company’s own page comes next.', () => leaveForCompany('../../cli')));
}

/** Goes on where the company's sign-in has sent the browser back. */
async function goOn() {
  await loadInfo();
  const returned = takeReturn();
  if (!returned) return;
  await run('One moment…', async () => {
    const account = await finishCompanySignIn(returned);
    state.token = account.session?.token ?? '';
    showFact('address', account.person?.email ?? account.person?.name ?? '');
    await showResult(account);
  });
}

goOn().catch((error) => showProblem(error.message));
