import type { Browser, Page } from 'playwright-core';

interface OpenPage extends AsyncDisposable {
  readonly page: Page;
  /** What the browser complained about: errors of scripts, and whatever the content security policy refused. */
  readonly complaints: readonly string[];
  /** The origins that anything was asked of. */
  readonly origins: ReadonlySet<string>;
}

/** A page of a browser that remembers nothing, watched. */
export async function openPage(
  browser: Browser,
  options: Parameters<Browser['newContext']>[0] = {},
): Promise<OpenPage> {
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
