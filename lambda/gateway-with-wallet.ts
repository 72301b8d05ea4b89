import type { App } from './app.ts';
import { createGateway, type World } from './gateway.ts';
import type { Config } from './settings/config.ts';
import { isPageCall } from './wallet/request.ts';
import { createWallet, type World as WalletWorld } from './wallet/wallet.ts';

/** Both apps as one, for a process that serves both; the pages for people have paths of their own. */
export function createGatewayWithWallet(config: Config, world: World & WalletWorld): App {
  const gateway = createGateway(config, world);
  const wallet = createWallet(config, world);
  return (call) => (isPageCall(call) ? wallet : gateway)(call);
}
