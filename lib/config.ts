import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { ConfigError, readConfig } from '../lambda/config.ts';
import { type Setting, settings, upstreamSettings } from '../lambda/settings.ts';

/** One deployment, as the `gateway` block of cdk.json describes it. */
export interface DeploymentConfig {
  /**
   * Megabytes; processor time comes in proportion. A stream is billed for its whole length and mostly waits, so little is
   * cheap: cdk.json's 512 is twice what the largest bodies were measured to take.
   */
  readonly memorySize: number;
  readonly logRetention: RetentionDays;
  /** The operator's part of the function's environment, fallbacks written out; the stack adds what it creates itself. */
  readonly environment: Readonly<Record<string, string>>;
}

/** What the stack sets by itself, with stand-ins that let the operator's part be checked without it. */
const setByStack: Readonly<Record<string, string>> = {
  KEYS_TABLE: 'keys',
  QUOTA_TABLE: 'quota',
  UPSTREAM_SECRET_ID: 'upstream',
  NETWORK_SALT_SECRET_ID: 'network-salt',
  EDGE_SECRET_ID: 'edge',
};

/** Checks a block with the function's own parsers, so that what deploys also starts, and reports all faults together. */
export function readDeploymentConfig(block: unknown): DeploymentConfig {
  if (typeof block !== 'object' || block === null || Array.isArray(block)) throw new ConfigError(['must be an object']);
  const { memorySize, logRetentionDays, ...given } = block as Readonly<Record<string, unknown>>;
  const faults = Object.entries(given).flatMap(([name, value]) => faultOf(name, value) ?? []);
  if (!isMemorySize(memorySize)) faults.push('memorySize must be a whole number of megabytes from 128 to 10240');
  if (!isRetention(logRetentionDays)) {
    faults.push('logRetentionDays must be a number of days that CloudWatch Logs offers, such as 7, 30 or 365');
  }
  const environment = { ...fallbacks(), ...texts(given) };
  faults.push(...settingFaults(environment));
  if (faults.length > 0 || !isMemorySize(memorySize) || !isRetention(logRetentionDays)) {
    throw new ConfigError([...new Set(faults)]);
  }
  return { memorySize, logRetention: logRetentionDays, environment };
}

/** Why a name has no place in the block, or its value no text. */
function faultOf(name: string, value: unknown): string | undefined {
  const upstreamName = /^UPSTREAM_(?:\d+_)?(\w+)$/.exec(name)?.[1] ?? '';
  if (!Object.hasOwn(settings, name) && !Object.hasOwn(upstreamSettings, upstreamName))
    return `${name} is no known setting`;
  if (Object.hasOwn(setByStack, name)) return `${name} is set by the stack`;
  if (name === 'NETWORK_SALT' || upstreamName === 'API_KEYS') return `${name} belongs in a secret, not in a template`;
  if (!['string', 'number', 'boolean'].includes(typeof value)) return `${name} must be text, a number, true or false`;
  return undefined;
}

/** Written out in the function's environment, so that a changed fallback is a line in the infrastructure diff. */
function fallbacks(): Record<string, string> {
  const entries: [string, Setting<unknown>][] = Object.entries(settings);
  return Object.fromEntries(entries.flatMap(([name, { fallback }]) => (fallback ? [[name, fallback]] : [])));
}

/** As the function's environment wants them: text, and nothing for a blank, which a function reads as unset. */
function texts(values: Readonly<Record<string, unknown>>): Record<string, string> {
  const entries = Object.entries(values).map(([name, value]) => [name, String(value).trim()]);
  return Object.fromEntries(entries.filter(([, text]) => text !== ''));
}

function settingFaults(environment: Readonly<Record<string, string>>): readonly string[] {
  const { EDGE_SECRET_ID, ...always } = setByStack;
  try {
    readConfig({ ...environment, ...always, ...(environment.EDGE_HEADER && { EDGE_SECRET_ID }) });
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
}

function isMemorySize(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 128 && Number(value) <= 10_240;
}

function isRetention(value: unknown): value is RetentionDays {
  return typeof value === 'number' && RetentionDays[value] !== undefined;
}
