import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { exportJWK, generateKeyPair } from 'jose';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { demoAccounts, type IdentityProvider, startIdentityProvider } from '../../local/demo/identity-provider.ts';
import { startTestWallet, type TestWallet } from '../support/accounts.ts';
import { findFreePort } from '../support/find-free-port.ts';
import { signInAt } from '../support/identity-provider.ts';
import { startChromium } from './chromium.ts';
import { signInThere } from './company.ts';
import { click, heading } from './session.ts';

jest.setTimeout(60_000);

const [port, providerPort] = [await findFreePort(), await findFreePort()];
// Another site than the provider's, which is at 127.0.0.1.
const appUrl = `http://localhost:${port}`;
const accounts = {
  ...demoAccounts,
  outside: { name: 'Olga', email: 'olga@example.com', email_verified: true, groups: ['sales'] },
};

let browser: Browser;
let context: BrowserContext;
let page: Page;
let provider: IdentityProvider;
let wallet: TestWallet;

const startProvider = async () => {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const key = { ...(await exportJWK(privateKey)), use: 'sig', alg: 'RS256', kid: randomBytes(4).toString('hex') };
  const callbackUrl = `${appUrl}/cli/oidc/callback`;
  provider = await startIdentityProvider({ callbackUrl, accounts, port: providerPort, jwks: { keys: [key] } });
};

beforeAll(async () => {
  browser = await startChromium();
  await startProvider();
});
beforeEach(async () => {
  // In this process, so that its clock and the provider's can be set.
  wallet = await startTestWallet({
    port,
    now: () => Date.now(),
    environment: {
      ...{ APP_URL: appUrl, OIDC_ISSUER: provider.issuer, OIDC_CLIENT_ID: provider.clientId },
      OIDC_CLIENT_SECRET: provider.clientSecret,
      ...{ OIDC_ALLOWED_DOMAINS: 'example.com', OIDC_ALLOWED_GROUPS: 'engineers' },
    },
  });
  context = await browser.newContext();
  page = await context.newPage();
});
afterEach(async () => {
  jest.restoreAllMocks();
  await context.close();
  await wallet[Symbol.asyncDispose]();
});
afterAll(async () => {
  await provider.close();
  await browser.close();
});

const callback = (url: URL) => url.pathname === '/cli/oidc/callback';
const says = (text: string, at = page) => at.getByRole('alert').getByText(text).waitFor();
const passTime = (milliseconds: number) => {
  const { now } = Date;
  jest.spyOn(Date, 'now').mockImplementation(() => now() + milliseconds);
};

async function leave(login = 'ada') {
  await context.clearCookies(); // or the provider would not ask again
  await page.goto(`${appUrl}/cli`);
  await click(page, 'Sign in');
  await signInThere(page, login);
}

/** Signs in as far as the provider's answer, of which this tab makes nothing. */
async function stopAtAnswer(): Promise<string> {
  await page.route('**/cli/callback.js', (route) => route.abort());
  await leave();
  await page.waitForURL(callback);
  await page.unroute('**/cli/callback.js');
  return page.url();
}

/** Lets something happen between the provider's answer and what this gateway makes of it. */
const beforeRedeeming = (act: () => Promise<void> | void) =>
  page.route('**/cli/oidc/redeem', async (route) => {
    await act();
    await route.continue();
  });

test('a wallet comes second, in few words', async () => {
  await page.goto(`${appUrl}/cli`);
  await page.getByText('This browser shows no wallet.').waitFor();
  const headings = await page.getByRole('heading', { level: 2 }).allTextContents();
  expect(headings.slice(0, 2)).toEqual(['Sign in with your company account', 'Connect your wallet']);
  expect(await page.getByText('install a wallet').isVisible()).toBe(false);
  expect(await page.locator('.lead').innerText()).toMatch(
    /^Sign in with your company account.*\s50 requests a day\.$/s,
  );
});

test('somebody of another group is told so', async () => {
  await leave('outside');
  await says('you are in none of the groups that it lets in');
  await heading(page, 'Sign in with your company account');
});

test('an answer that has waited too long has expired', async () => {
  await beforeRedeeming(() => passTime(90_000));
  await leave();
  await says('That sign-in has expired or was used before. Please start again.');
});

test('an answer counts once, in the tab that asked', async () => {
  const url = await stopAtAnswer();
  const other = await context.newPage();
  await other.goto(url);
  await says('That sign-in was not begun in this tab', other);
  await heading(other, 'Sign in with your company account');

  await page.goto(url);
  await heading(page, 'Your account');
  await page.goto(url);
  await says('That sign-in was not begun in this tab');
  expect(await page.getByRole('heading', { name: 'Your account' }).isVisible()).toBe(false);
});

test('nobody is signed in to another’s account by a link, however genuine its answer', async () => {
  const made = { state: randomBytes(32).toString('base64url'), nonce: randomBytes(32).toString('base64url') };
  const begun = await wallet.post('/cli/oidc/begin', { ...made, challenge: randomBytes(32).toString('base64url') });
  const own = await signInAt((begun.body as unknown as { url: string }).url, 'ada');
  // A tab that has begun nothing, and one that has.
  await page.goto(own.href);
  await says('That sign-in was not begun in this tab');
  const theirs = await stopAtAnswer();
  for (const link of [own.href, `${appUrl}/cli${own.search.replace('?', '#')}`]) {
    await page.goto(link);
    await says('That sign-in was not begun in this tab');
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
  }
  // With what the tab knew gone, its own answer serves nobody either.
  await page.goto(theirs);
  await says('That sign-in was not begun in this tab');
});

test('a provider that is down is named as that, and is used again once it is up, with other keys', async () => {
  await leave();
  await heading(page, 'Your account');

  await beforeRedeeming(() => provider.close());
  await leave();
  await says('Your company’s sign-in can’t be reached right now');
  await page.unroute('**/cli/oidc/redeem');

  await startProvider();
  passTime(61_000);
  await leave();
  await heading(page, 'Your account');
});

test('signing in works without third-party cookies, and sets none of this gateway’s', async () => {
  const session = await context.newCDPSession(page);
  await session.send('Network.setCookieControls', {
    enableThirdPartyCookieRestriction: true,
    ...{ disableThirdPartyCookieMetadata: true, disableThirdPartyCookieHeuristics: true },
  });
  const inside: string[] = [];
  page.on('request', (request) => {
    const isWholePage = request.isNavigationRequest() && request.frame() === page.mainFrame();
    if (request.url().startsWith(provider.issuer) && !isWholePage && page.url().startsWith(appUrl)) {
      inside.push(request.url());
    }
  });
  await leave();
  await heading(page, 'Your account');
  expect(inside).toEqual([]);
  expect((await context.cookies(appUrl)).map(({ name }) => name)).toEqual([]);
});
