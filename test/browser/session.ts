import { afterAll, beforeAll, jest } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { startGatewayProcess } from '../local/gateway-process.ts';
import { testAccount } from '../support/accounts.ts';
import { startChromium } from './chromium.ts';
import { type BrowserWallet, installWallet } from './test-wallet.ts';

interface OpenPage extends AsyncDisposable {
  readonly page: Page;
  /** The browser's complaints: errors of scripts, and refusals by the content security policy. */
  readonly complaints: readonly string[];
  /** The origins of all requests. */
  readonly origins: ReadonlySet<string>;
}

export const click = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).click();
export const heading = (page: Page, name: string) => page.getByRole('heading', { name, exact: true }).waitFor();

/** Signs with the wallet of a page that is at /cli; returns the key that is shown then. */
export async function getKey(page: Page): Promise<string> {
  await click(page, 'Test Wallet');
  await click(page, 'Sign and get a key');
  await heading(page, 'Your key');
  return (await page.locator('#key-text').textContent()) ?? '';
}

type Options = Parameters<Browser['newContext']>[0];

/** A browser and a gateway that the tests of a file share. */
export function startSession(environment?: Parameters<typeof startGatewayProcess>[0]) {
  jest.setTimeout(60_000);
  const parts = new AsyncDisposableStack();
  let browser: Browser | undefined;
  let url = '';
  beforeAll(async () => {
    const started = await startChromium();
    parts.defer(() => started.close());
    browser = started;
    url = parts.use(await startGatewayProcess(environment)).url;
  });
  afterAll(() => parts.disposeAsync());
  return {
    get url() {
      return url;
    },
    openPage(options?: Options): Promise<OpenPage> {
      if (!browser) throw new Error('pages are for tests: the browser starts before the first');
      return openPage(browser, options);
    },
    /** A page at /cli, in a browser that has the wallet of this account. */
    async openCli(account: number): Promise<OpenPage & { readonly wallet: BrowserWallet }> {
      const opened = await this.openPage();
      const wallet = await installWallet(opened.page, testAccount(account));
      await opened.page.goto(`${url}/cli`);
      return { ...opened, wallet };
    },
  };
}

/** A watched page in a browser that remembers nothing. */
async function openPage(browser: Browser, options: Options): Promise<OpenPage> {
  const context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'], ...options });
  const page = await context.newPage();
  const complaints: string[] = [];
  const origins = new Set<string>();
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('request', (request) => {
    const { origin, protocol } = new URL(request.url());
    if (protocol !== 'data:') origins.add(origin);
  });
  return { page, complaints, origins, [Symbol.asyncDispose]: () => context.close() };
}

/** The blocks of code whose lines are longer than they are wide. */
export const cutTexts = (page: Page): Promise<string[]> =>
  page
    .locator('pre:visible')
    .evaluateAll((blocks) =>
      blocks.flatMap(({ scrollWidth, clientWidth, textContent }) => (scrollWidth > clientWidth ? [textContent] : [])),
    );
