import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { type IdentityProvider, startIdentityProvider } from '../../local/demo/identity-provider.ts';
import { startTestWallet, type TestWallet } from '../support/accounts.ts';
import { findFreePort } from '../support/find-free-port.ts';
import { begin, makeState, signInAt } from '../support/identity-provider.ts';
import {
  alert,
  click,
  expectLegible,
  expectLegibleInAllLooks,
  headed,
  heading,
  looks,
  nothingKept,
  startBrowser,
} from './session.ts';

const port = await findFreePort();
// Another site than the provider's, which is at 127.0.0.1.
const appUrl = `http://localhost:${port}`;

const browser = startBrowser();
let provider: IdentityProvider;
let wallet: TestWallet;
let page: Page;
let complaints: readonly string[];

/** In this process, so that its clock and the provider's can be set. */
const startWallet = async (walletSignIn: boolean) => {
  wallet = await startTestWallet({
    port,
    now: () => Date.now(),
    environment: {
      ...{ APP_URL: appUrl, OIDC_ISSUER: provider.issuer, OIDC_CLIENT_ID: provider.clientId },
      OIDC_CLIENT_SECRET: provider.clientSecret,
      ...{ OIDC_ALLOWED_DOMAINS: 'example.com', OIDC_ALLOWED_GROUPS: 'engineers' },
      WALLET_SIGN_IN: String(walletSignIn),
    },
  });
};
beforeAll(async () => {
  provider = await startIdentityProvider({ callbackUrl: `${appUrl}/cli/oidc/callback` });
});
beforeEach(async () => {
  await startWallet(true);
  ({ page, complaints } = await browser.openPage());
});
afterEach(async () => {
  jest.restoreAllMocks();
  await wallet[Symbol.asyncDispose]();
});
afterAll(() => provider.close());

/** Goes on to what has this name as those do who have no mouse. */
async function tabTo(name: string) {
  for (let stops = 0; stops < 40; stops += 1) {
    await page.keyboard.press('Tab');
    if ((await page.evaluate('document.activeElement.textContent.trim()')) === name) return;
  }
  throw new Error(`Tab never comes to ${name}`);
}

/** The provider's own pages: who, and what they allow. */
async function signInThere() {
  await page.locator('[name=login]').fill('ada');
  await page.locator('[name=password]').fill('any');
  await page.locator('[type=submit]').click();
  await page.getByRole('button', { name: /continue/i }).click();
}

async function leave() {
  await page.context().clearCookies(); // or the provider would not ask again
  await page.goto(`${appUrl}/cli`);
  await click(page, 'Sign in');
  await signInThere();
}

/** Signs in as far as the provider's answer, of which this tab makes nothing. */
async function stopAtAnswer(): Promise<string> {
  await page.route('**/cli/callback.js', (route) => route.abort());
  await leave();
  await page.waitForURL((url) => url.pathname === '/cli/oidc/callback');
  await page.unroute('**/cli/callback.js');
  return page.url();
}

test.each(looks)('a person signs in with the company’s account, gets a key and renews it: %j', async (look) => {
  await page.setViewportSize(look.viewport);
  await page.emulateMedia(look);
  await page.goto(`${appUrl}/cli`);
  await heading(page, 'Sign in with your company account');
  await expectLegible(page);
  await tabTo('Sign in');
  await page.keyboard.press('Enter');
  await page.waitForURL((url) => url.origin === provider.issuer);
  await signInThere();
  await heading(page, 'Your account');
  await page.locator('#signed-in').getByText('ada@example.com').waitFor();
  expect(page.url()).toBe(`${appUrl}/cli`);
  await expectLegible(page);
  // There they go on, and screen readers read on.
  expect(await page.evaluate('document.activeElement.id')).toBe('account-title');
  await tabTo('New key');
  await page.keyboard.press('Enter');
  await heading(page, 'Your key');
  expect(await page.evaluate('document.activeElement.id')).toBe('key-title');
  expect(await page.locator('#key-text').textContent()).toMatch(/^ltk_/);
  await page.getByRole('button', { name: /^Renew key_/ }).press('Enter');
  await page.getByRole('status').getByText('Renewed.').waitFor();
  await expectLegible(page);
  // Nothing of it stays, and going back shows no code.
  expect(await page.evaluate(nothingKept)).toEqual([0, 0, '']);
  expect(await page.context().cookies(appUrl)).toEqual([]);
  // The provider's own pages want fonts from elsewhere.
  expect(complaints.filter((text) => !text.startsWith('Failed to load'))).toEqual([]);
});

test('a terminal is let in with the company’s account, and its code survives the way there', async () => {
  const { body } = await wallet.postForm('/oauth/device_authorization', { client_id: 'svc-terminal' });
  await page.goto(`${appUrl}/cli/device`);
  await page.getByRole('textbox', { name: 'Code' }).fill(body.user_code);
  await page.keyboard.press('Enter');
  await heading(page, 'Sign in');
  await expectLegibleInAllLooks(page);
  await click(page, 'With your company account');
  await signInThere();
  await heading(page, 'Is this your terminal?');
  await page.getByText(body.user_code).waitFor();
  await click(page, 'Yes, let it in');
  await heading(page, 'Your terminal is signed in');
});

test('a wallet comes second, in few words, and is not spoken of where it does not serve', async () => {
  await page.goto(`${appUrl}/cli`);
  await page.getByText('This browser shows no wallet.').waitFor();
  const headings = await page.getByRole('heading', { level: 2 }).allTextContents();
  expect(headings.slice(0, 2)).toEqual(['Sign in with your company account', 'Connect your wallet']);
  expect(await page.getByText('install a wallet').isVisible()).toBe(false);
  await expectLegibleInAllLooks(page);
  expect(await page.locator('.lead').innerText()).toMatch(
    /^Sign in with your company account.*\s50 requests a day\.$/s,
  );
  await wallet[Symbol.asyncDispose]();
  await startWallet(false);
  await page.reload();
  await heading(page, 'Sign in with your company account');
  expect(await page.getByText('wallet').filter({ visible: true }).count()).toBe(0);
  await expectLegibleInAllLooks(page);
});

test('a person who declines is told so, and so is one whose answer has expired meanwhile', async () => {
  await page.goto(`${appUrl}/cli`);
  await click(page, 'Sign in');
  await page.locator('[name=login]').waitFor();
  await page.getByText('[ Cancel ]').click();
  await alert(page, 'declined on your company’s page');
  await expectLegibleInAllLooks(page);
  await page.route('**/cli/oidc/redeem', async (route) => {
    const { now } = Date;
    jest.spyOn(Date, 'now').mockImplementation(() => now() + 90_000);
    await route.continue();
  });
  await leave();
  await alert(page, 'That sign-in has expired or was used before. Please start again.');
  await heading(page, 'Sign in with your company account');
});

test('an answer counts once, in the tab that asked, and a genuine link signs nobody in to another’s account', async () => {
  const url = await stopAtAnswer();
  const other = await page.context().newPage();
  await other.goto(url);
  await alert(other, 'That sign-in was not begun in this tab');
  await heading(other, 'Sign in with your company account');
  await page.goto(url);
  await heading(page, 'Your account');
  await page.goto(url);
  await alert(page, 'That sign-in was not begun in this tab');
  expect(await headed(page, 'Your account').isVisible()).toBe(false);

  const own = await signInAt(await begin(wallet.url, makeState()), 'ada');
  const theirs = await stopAtAnswer();
  // The first link takes what the tab knew, so that its own answer serves nobody either.
  for (const link of [`${appUrl}/cli${own.search.replace('?', '#')}`, own.href, theirs]) {
    await page.goto(link);
    await alert(page, 'That sign-in was not begun in this tab');
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
  }
});
