import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { Page } from 'playwright-core';

/** The gateway's port must be known before it listens: a provider sends browsers back there only. */
export async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

export const click = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).click();
export const heading = (page: Page, name: string) => page.getByRole('heading', { name, exact: true }).waitFor();

/** The provider's own pages: who, and what they allow. */
export async function signInThere(page: Page, login: string) {
  await page.locator('[name=login]').fill(login);
  await page.locator('[name=password]').fill('any');
  await page.locator('[type=submit]').click();
  await page.getByRole('button', { name: /continue/i }).click();
}
