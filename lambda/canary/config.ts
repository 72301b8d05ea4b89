import { required, text, type Value } from '../settings/kinds.ts';
import { type CamelNamed, ConfigError, camelNamed, type Environment, readSettings } from '../settings/read.ts';
import { settings } from '../settings/table.ts';

const { SERVICE_NAME, METRICS_NAMESPACE } = settings;

/** All are set by the stack. */
const canarySettings = {
  CANARY_URL: required(text('the http(s) URL of the gateway', /^https?:\/\/[^\s?#]+$/)),
  CANARY_SECRET_ID: required(text('the name or ARN of a secret', /^\S+$/)),
  ...{ SERVICE_NAME, METRICS_NAMESPACE },
} as const;

/** The canary's settings. */
export type CanaryConfig = CamelNamed<{ [N in keyof typeof canarySettings]: Value<(typeof canarySettings)[N]> }>;

export function readCanaryConfig(environment: Environment): CanaryConfig {
  const faults: string[] = [];
  const config = camelNamed(readSettings(canarySettings, environment, faults));
  if (faults.length > 0) throw new ConfigError(faults);
  return Object.freeze(config);
}
