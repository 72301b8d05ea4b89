import { decideTerminal, findTerminal, signIn } from './api.js';
import { finishCompanySignIn, leaveForCompany, takeReturn } from './company.js';
import { byId, inputById, onButton } from './element.js';
import { createRun } from './messages.js';
import { connect, listWallets, sign } from './wallets.js';

/** The page's whole state: the terminal that was found by the code that was typed, and who is signed in. */
const state = { code: '', sameNetwork: false, askedAt: 0, token: '' };

/** Shows one section, and moves keyboard and screen reader there. */
function show(/** @type {string} */ id) {
  for (const section of document.querySelectorAll('main > section')) {
    /** @type {HTMLElement} */ (section).hidden = section.id !== id;
  }
  byId(`${id}-title`).focus();
}

const run = createRun((code) => {
  if (code === 'invalid_session') show('connect');
  if (code === 'not_found' || code === 'invalid_request') show('code');
});

byId('code-form').addEventListener('submit', (event) => {
  event.preventDefault();
  run('Looking for the terminal…', async () => {
    await find(inputById('user-code').value.trim().toUpperCase());
    if (state.token === '') show('connect');
    else showTerminal();
  });
});

/** Nobody signs in for a code that no terminal waits with. */
async function find(/** @type {string} */ code) {
  const { sameNetwork, age } = await findTerminal(code);
  Object.assign(state, { code, sameNetwork, askedAt: Date.now() - age * 1000 });
}

/** @param {import('./wallets.js').Wallet} wallet */
function signWith(wallet) {
  run(`Look at ${wallet.info.name}: it shows you the message to sign.`, async () => {
    const signed = await sign(wallet, await connect(wallet), 'terminal');
    const { session } = await signIn('terminal', { ...signed, label: '' });
    state.token = session?.token ?? '';
    showTerminal();
  });
}

function showTerminal() {
  const { code, sameNetwork, askedAt } = state;
  const minutes = Math.floor((Date.now() - askedAt) / 60_000);
  const since = minutes === 0 ? 'less than a minute' : minutes === 1 ? 'a minute' : `${minutes} minutes`;
  byId('shown-code').textContent = code;
  byId('facts').textContent = sameNetwork
    ? `It asked ${since} ago, from the network that this browser is on.`
    : `It asked ${since} ago, from another network than this browser. If you did not start it yourself just now, on another machine, say no.`;
  show('approve');
}

onButton('let-in', () =>
  run('Letting it in…', async () => {
    await decideTerminal(state.token, 'approve', state.code);
    finish('Your terminal is signed in', 'It goes on by itself within a few seconds. You can close this page.');
  }),
);
onButton('refuse', () =>
  run('Refusing…', async () => {
    await decideTerminal(state.token, 'deny', state.code);
    finish('The terminal was refused', 'It gets no key. If somebody sent you the code, tell them nothing more.');
  }),
);

function finish(/** @type {string} */ title, /** @type {string} */ text) {
  byId('done-title').textContent = title;
  byId('done-text').textContent = text;
  show('done');
}

// Only the ways that the deployment offers are on the page.
if (document.getElementById('wallets')) listWallets(signWith);
if (document.getElementById('company-sign-in')) {
  onButton('company-sign-in', () =>
    run('Your company’s own page comes next.', () => leaveForCompany('../../cli/device', state.code)),
  );
}

run('One moment…', async () => {
  const returned = takeReturn();
  if (!returned) return;
  const { session } = await finishCompanySignIn(returned);
  state.token = session?.token ?? '';
  await find(returned.begun.code);
  showTerminal();
});
