import type { App } from './app.ts';
import { createGateway, type World } from './gateway.ts';
import type { Config } from './settings/config.ts';
import { readPageFiles } from './wallet/page-files.ts';
import { isPagePath } from './wallet/site.ts';
import { createWallet, type World as WalletWorld } from './wallet/wallet.ts';

/** Both apps as one, for a process that serves both: the wallet's pages stand below a path of their own. */
export function createGatewayWithWallet(config: Config, world: World & Omit<WalletWorld, 'pageFiles'>): App {
  // The bundle keeps the page's files where they are here too.
  const pageFiles = readPageFiles(new URL('./wallet/page/', import.meta.url));
  const gateway = createGateway(config, world);
  const wallet = createWallet(config, { ...world, pageFiles });
  return (call) => (isPagePath(call.path) ? wallet : gateway)(call);
}
