import type { App } from './app.ts';
import { createGateway, type GatewayDependencies } from './gateway.ts';
import type { Config } from './settings/config.ts';
import { isPageCall } from './wallet/request.ts';
import { createWallet, type WalletDependencies } from './wallet/wallet.ts';

/** Both apps as one, for a process that serves both; the pages for people have paths of their own. */
export function createGatewayWithWallet(config: Config, dependencies: GatewayDependencies & WalletDependencies): App {
  const gateway = createGateway(config, dependencies);
  const wallet = createWallet(config, dependencies);
  return (call) => (isPageCall(call) ? wallet : gateway)(call);
}
