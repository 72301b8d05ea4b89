import { ApiError, askForMessage, askOfTerminal, signIn } from './api.js';
import { finishCompanySignIn, leaveForCompany, takeReturn } from './company.js';
import { byId, create, inputById, onButton } from './element.js';
import { announce, hideProblem, showProblem } from './messages.js';
import { connect, discoverWallets, readChain, sign, WalletProblem } from './wallets.js';

/** The page's whole state: the code that was typed, and who is signed in. */
const state = { code: '', token: '' };

/** Shows one section, and moves keyboard and screen reader there. */
function show(/** @type {string} */ id) {
  for (const section of document.querySelectorAll('main > section')) {
    /** @type {HTMLElement} */ (section).hidden = section.id !== id;
  }
  byId(`${id}-title`).focus();
}

/**
 * Runs a button's action, one at a time, and shows what went wrong.
 * @param {string} doing what a person reads meanwhile
 * @param {() => Promise<void>} act
 */
async function run(doing, act) {
  const { dataset } = document.body;
  if (dataset.busy !== undefined) return;
  hideProblem();
  announce(doing);
  dataset.busy = '';
  try {
    await act();
    announce('');
  } catch (error) {
    const known = error instanceof ApiError || error instanceof WalletProblem;
    if (error instanceof ApiError && error.code === 'invalid_session') show('connect');
    if (error instanceof ApiError && /^(not_found|invalid_request)$/.test(error.code)) show('code');
    showProblem(known ? error.message : 'Something went wrong on this page. Please load it again.');
    if (!known) throw error;
  } finally {
    delete dataset.busy;
  }
}

byId('code-form').addEventListener('submit', (event) => {
  event.preventDefault();
  hideProblem();
  state.code = inputById('user-code').value.trim().toUpperCase();
  if (state.token === '') show('connect');
  else run('Looking for the terminal…', showTerminal);
});

/** @param {import('./wallets.js').Wallet} wallet */
function showWallet(wallet) {
  const { name, icon } = wallet.info;
  const image =
    typeof icon === 'string' && icon.startsWith('data:image/')
      ? [create('img', { src: icon, alt: '', width: '28', height: '28' })]
      : [];
  const button = create('button', { type: 'button' }, ...image, create('span', {}, name));
  button.addEventListener('click', () =>
    run(`Look at ${name}: it shows you the message to sign.`, async () => {
      const address = await connect(wallet);
      const chainId = await readChain(wallet);
      const { message } = await askForMessage({ address, chainId, purpose: 'terminal' });
      const signature = await sign(wallet, address, message);
      const { session } = await signIn('terminal', { message, signature, label: '' });
      state.token = session?.token ?? '';
      await showTerminal();
    }),
  );
  byId('wallets').append(create('li', {}, button));
}

async function showTerminal() {
  const { sameNetwork, age } = await askOfTerminal(state.token, 'find', state.code);
  const minutes = Math.floor(age / 60);
  const since = minutes === 0 ? 'less than a minute' : minutes === 1 ? 'a minute' : `${minutes} minutes`;
  byId('shown-code').textContent = state.code;
  byId('facts').textContent = sameNetwork
    ? `It asked ${since} ago, from the network that this browser is on.`
    : `It asked ${since} ago, from another network than this browser. If you did not start it yourself just now, on another machine, say no.`;
  show('approve');
}

onButton('let-in', () =>
  run('Letting it in…', async () => {
    await askOfTerminal(state.token, 'approve', state.code);
    finish('Your terminal is signed in', 'It goes on by itself within a few seconds. You can close this page.');
  }),
);
onButton('refuse', () =>
  run('Refusing…', async () => {
    await askOfTerminal(state.token, 'deny', state.code);
    finish('The terminal was refused', 'It gets no key. If somebody sent you the code, tell them nothing more.');
  }),
);

function finish(/** @type {string} */ title, /** @type {string} */ text) {
  byId('done-title').textContent = title;
  byId('done-text').textContent = text;
  show('done');
}

// Only the ways that the deployment offers are on the page.
if (document.getElementById('wallets')) {
  const lookAgain = discoverWallets(showWallet, () => {
    byId('no-wallet').hidden = false;
  });
  onButton('look-again', lookAgain);
}
if (document.getElementById('company-sign-in')) {
  onButton('company-sign-in', () =>
    run('Your company’s own page comes next.', () => leaveForCompany('../../cli/device', state.code)),
  );
}

run('One moment…', async () => {
  const returned = takeReturn();
  if (!returned) return;
  state.code = returned.begun.code;
  const { session } = await finishCompanySignIn(returned);
  state.token = session?.token ?? '';
  await showTerminal();
});
