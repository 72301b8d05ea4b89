import { expect, test } from '@jest/globals';
import { testAccount } from '../support/accounts.ts';
import {
  alert,
  click,
  expectLegible,
  expectLegibleInAllLooks,
  headed,
  heading,
  looks,
  nothingKept,
  signIn,
  startSession,
} from './session.ts';
import { installWallet } from './test-wallet.ts';

const session = startSession();

async function post(path: string, fields: Record<string, string> = {}) {
  const body = new URLSearchParams({ client_id: 'svc-terminal', ...fields });
  return (await (await fetch(session.url + path, { method: 'POST', body })).json()) as Record<string, string>;
}
const poll = (terminal: Record<string, string>) =>
  post('/oauth/token', {
    grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
    device_code: terminal.device_code ?? '',
  });

test.each(looks)('a person lets a terminal in, and refuses another: %j', async (look) => {
  const { page, complaints, origins } = await session.openPage('/cli', look);
  const wallet = await installWallet(page, testAccount(look.viewport.width));
  const [wanted, unwanted] = [await post('/oauth/device_authorization'), await post('/oauth/device_authorization')];
  const typeCode = async (code = '') => {
    await page.getByRole('textbox', { name: 'Code' }).fill(code);
    await page.keyboard.press('Enter');
  };

  // Whoever sends a link can't put a code into it.
  await page.goto(`${session.url}/cli/device?user_code=${wanted.user_code}#${wanted.user_code}`);
  expect(await page.getByRole('textbox', { name: 'Code' }).inputValue()).toBe('');
  await expectLegible(page);
  await typeCode(wanted.user_code?.toLowerCase());
  await heading(page, 'Sign in');
  await expectLegible(page);
  await click(page, 'Test Wallet');
  await heading(page, 'Is this your terminal?');
  expect(wallet.shown).toEqual([expect.stringContaining('Sign in a terminal with the code that it shows')]);
  await page.getByText('from the network that this browser is on').waitFor();
  await page.getByText('which works for 30 days').waitFor();
  await expectLegible(page);
  await click(page, 'Yes, let it in');
  await heading(page, 'Your terminal is signed in');
  await expectLegible(page);
  expect(await poll(wanted)).toMatchObject({ access_token: expect.stringMatching(/^ltk_/), token_type: 'Bearer' });

  // The terminal's key ends, but is nothing that a wallet could renew.
  await page.goto(`${session.url}/cli`);
  await signIn(page);
  await page.getByText(', expires ').waitFor();
  expect(await page.getByText(/renew/i).filter({ visible: true }).count()).toBe(0);

  // Nobody signs in for a code that is mistyped.
  await page.goto(`${session.url}/cli/device`);
  await typeCode('BBBB-BBBB');
  await alert(page, 'No terminal is waiting with this code.');
  expect(await headed(page, 'Sign in').isVisible()).toBe(false);
  await expectLegible(page);
  await typeCode(unwanted.user_code);
  await click(page, 'Test Wallet');
  await heading(page, 'Is this your terminal?');
  await click(page, 'No');
  await heading(page, 'The terminal was refused');
  await expectLegible(page);
  expect(await poll(unwanted)).toMatchObject({ error: 'access_denied' });

  expect(complaints.filter((text) => !text.includes('404'))).toEqual([]);
  expect([...origins]).toEqual([session.url]);
  expect(await page.evaluate(nothingKept)).toEqual([0, 0, '']);
});

test('without a wallet a person is told what else there is, and a terminal elsewhere is called so', async () => {
  const { page, complaints } = await session.openPage('/cli/device');
  const { user_code = '' } = await post('/oauth/device_authorization');
  await page.route('**/cli/device/find', async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ json: { ...(await answer.json()), sameNetwork: false } });
  });
  await page.getByRole('textbox', { name: 'Code' }).fill(user_code);
  await page.keyboard.press('Enter');
  await heading(page, 'Sign in');
  await page.getByText('This browser shows no wallet.').waitFor();
  await page.getByText('ask the operator of this gateway for a key').waitFor();
  await expectLegibleInAllLooks(page);
  await installWallet(page, testAccount(7));
  await page.reload();
  await page.getByRole('textbox', { name: 'Code' }).fill(user_code);
  await page.keyboard.press('Enter');
  await click(page, 'Test Wallet');
  await page.getByText('from another network than this browser').waitFor();
  await expectLegibleInAllLooks(page);
  expect(complaints).toEqual([]);
});
