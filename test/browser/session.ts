import { afterAll, afterEach, beforeAll, expect, jest } from '@jest/globals';
import axe from 'axe-core';
import type { Browser, BrowserContext, BrowserContextOptions, Page, Request } from 'playwright-core';
import { startGatewayProcess } from '../local/gateway-process.ts';
import { testAccount } from '../support/accounts.ts';
import { startChromium } from './chromium.ts';
import { type BrowserWallet, installWallet } from './test-wallet.ts';

interface OpenPage {
  readonly page: Page;
  /** The browser's complaints: errors of scripts, and refusals by the content security policy. */
  readonly complaints: readonly string[];
  readonly requests: readonly Request[];
  /** The origins of all requests. */
  readonly origins: ReadonlySet<string>;
}

/** A narrow and a wide one, which is also what 1280 px enlarged to 400 % are. */
export const looks = [
  { viewport: { width: 320, height: 640 }, colorScheme: 'dark' },
  { viewport: { width: 1280, height: 640 }, colorScheme: 'light' },
] as const;

export const click = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).click();
export const headed = (page: Page, name: string) => page.getByRole('heading', { name, exact: true });
export const heading = (page: Page, name: string) => headed(page, name).waitFor();
export const alert = (page: Page, text: string) => page.getByRole('alert').getByText(text).waitFor();

/** Signs in with the wallet of a page that is at /cli. */
export async function signIn(page: Page, walletName = 'Test Wallet'): Promise<void> {
  await click(page, walletName);
  await click(page, /^Sign in$/);
  await heading(page, 'Your account');
}

/** Signs in as well and makes a key, which is shown then. */
export async function getKey(page: Page): Promise<string> {
  await signIn(page);
  await click(page, 'New key');
  await heading(page, 'Your key');
  return (await page.locator('#key-text').textContent()) ?? '';
}

/** A browser that the tests of a file share. What a test opens in it is closed after the test. */
export function startBrowser() {
  jest.setTimeout(60_000);
  const contexts: BrowserContext[] = [];
  let browser: Browser;
  beforeAll(async () => {
    browser = await startChromium();
  });
  afterEach(() => Promise.all(contexts.splice(0).map((context) => context.close())));
  afterAll(() => browser.close());
  return {
    /** A watched page in a browser that remembers nothing. */
    async openPage(options?: BrowserContextOptions): Promise<OpenPage> {
      const context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'], ...options });
      contexts.push(context);
      const page = await context.newPage();
      const complaints: string[] = [];
      const requests: Request[] = [];
      const origins = new Set<string>();
      page.on('pageerror', (error) => complaints.push(String(error)));
      page.on('console', (message) => {
        if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
      });
      page.on('request', (request) => {
        requests.push(request);
        const { origin, protocol } = new URL(request.url());
        if (protocol !== 'data:') origins.add(origin);
      });
      return { page, complaints, requests, origins };
    },
  };
}

/** A browser and a gateway that the tests of a file share. */
export function startSession(environment?: Parameters<typeof startGatewayProcess>[0]) {
  const { openPage } = startBrowser();
  const parts = new AsyncDisposableStack();
  let url = '';
  beforeAll(async () => {
    url = parts.use(await startGatewayProcess(environment)).url;
  });
  afterAll(() => parts.disposeAsync());
  return {
    get url() {
      return url;
    },
    async openPage(path: string, options?: BrowserContextOptions): Promise<OpenPage> {
      const opened = await openPage(options);
      await opened.page.goto(url + path);
      return opened;
    },
    /** A page at /cli, in a browser that has the wallet of this account. */
    async openCli(account: number, announced = true): Promise<OpenPage & { readonly wallet: BrowserWallet }> {
      const opened = await openPage();
      const wallet = await installWallet(opened.page, testAccount(account), announced);
      await opened.page.goto(`${url}/cli`);
      return { ...opened, wallet };
    },
  };
}

/** The page need not be scrolled sideways: what is too wide, such as code, is scrolled in its own frame. */
export async function expectUncut(page: Page): Promise<void> {
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(page.viewportSize()?.width);
}

/** That, and axe finds nothing wrong for those who read or work a page in other ways: WCAG 2.2 AA and good practice. */
export async function expectLegible(page: Page): Promise<void> {
  // Not as a script of the page, whose policy would refuse it.
  await page.evaluate(axe.source);
  const { violations, incomplete } = await page.evaluate<axe.AxeResults>('axe.run({ reporter: "v2" })');
  // Of a code that is scrolled it can't tell the contrast, because some of its text lies outside of its frame.
  const isScrolledCode = ({ target, any }: axe.NodeResult) =>
    `${target}`.includes('pre[') && any[0]?.data?.messageKey === 'elmPartiallyObscured';
  const untold = incomplete.map((one) => ({ ...one, nodes: one.nodes.filter((node) => !isScrolledCode(node)) }));
  const faults = [...violations, ...untold].flatMap(({ id, nodes }) =>
    nodes.map(({ target, any }) => `${id} ${target}: ${any[0]?.message ?? ''}`),
  );
  expect(faults).toEqual([]);
  await expectUncut(page);
}

/** The same of a page that is there already, narrow and dark, and wide and light. */
export async function expectLegibleInAllLooks(page: Page): Promise<void> {
  const before = page.viewportSize();
  for (const { viewport, colorScheme } of looks) {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme });
    await expectLegible(page);
  }
  if (before) await page.setViewportSize(before);
}

export const nothingKept = '[localStorage.length, sessionStorage.length, document.cookie]';
