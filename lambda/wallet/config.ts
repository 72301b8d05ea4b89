import { networkFaults } from '../settings/config.ts';
import { type CamelNamed, ConfigError, camelNamed, type Environment, readSettings } from '../settings/read-settings.ts';
import type { Value } from '../settings/setting.ts';
import { walletSettings } from '../settings/settings.ts';

/** The wallet function's settings: some of the gateway's. */
export type WalletConfig = CamelNamed<{ [N in keyof typeof walletSettings]: Value<(typeof walletSettings)[N]> }>;

/** Reads every setting at once and reports all faults together. */
export function readWalletConfig(environment: Environment): WalletConfig {
  const faults: string[] = [];
  const config = camelNamed(readSettings(walletSettings, environment, faults));
  faults.push(...networkFaults(config, environment));
  if (faults.length > 0) throw new ConfigError(faults);
  return Object.freeze(config);
}
