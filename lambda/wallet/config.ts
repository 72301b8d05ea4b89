import { type Config, ConfigError, createSettingReader, type Environment, networkFaults } from '../settings/config.ts';

/** What the wallet function is told from outside: a part of the gateway's settings. */
export type WalletConfig = Pick<
  Config,
  | 'serviceName'
  | 'appUrl'
  | 'gatewayUrl'
  | 'memberLimit'
  | 'keysTable'
  | 'quotaTable'
  | 'networkSalt'
  | 'networkSaltSecretId'
  | 'edgeHeader'
  | 'edgeSecretId'
  | 'metricsNamespace'
>;

/** Reads every setting at once and reports all faults together. */
export function readWalletConfig(environment: Environment): WalletConfig {
  const faults: string[] = [];
  const { optional, required, withFallback } = createSettingReader(environment, faults);
  const config: WalletConfig = {
    serviceName: withFallback('SERVICE_NAME'),
    appUrl: optional('APP_URL'),
    gatewayUrl: optional('GATEWAY_URL'),
    memberLimit: withFallback('MEMBER_LIMIT'),
    keysTable: required('KEYS_TABLE'),
    quotaTable: required('QUOTA_TABLE'),
    networkSalt: optional('NETWORK_SALT'),
    networkSaltSecretId: optional('NETWORK_SALT_SECRET_ID'),
    edgeHeader: optional('EDGE_HEADER'),
    edgeSecretId: optional('EDGE_SECRET_ID'),
    metricsNamespace: withFallback('METRICS_NAMESPACE'),
  };
  faults.push(...networkFaults(config, environment));
  if (faults.length > 0) throw new ConfigError(faults);
  return Object.freeze(config);
}
