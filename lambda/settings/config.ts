import { type Alias, type Setting, type SettingName, settings, upstreamSettings } from './settings.ts';

export interface Upstream {
  /** The prefix of its settings: `UPSTREAM`, `UPSTREAM_2` …; its keys stand in the secret under `PREFIX_API_KEYS`. */
  readonly prefix: string;
  readonly baseUrl: string;
  readonly responsesBaseUrl: string;
  readonly messagesBaseUrl: string;
  readonly textModel: string;
  readonly visionModel: string;
  /** Keys given in the environment: local only, a deployment reads them from its secret. */
  readonly apiKeys: readonly string[];
}

/** All that the function is told from outside. Times are milliseconds. */
export interface Config {
  readonly serviceName: string;
  readonly appUrl: string | undefined;
  readonly gatewayUrl: string | undefined;
  readonly modelAliases: readonly Alias[];
  readonly upstreams: readonly Upstream[];
  readonly upstreamSecretId: string | undefined;
  readonly upstreamNames: readonly string[];
  readonly upstreamSignsThinking: boolean;
  readonly connectTimeout: number;
  readonly idleTimeout: number;
  readonly requestTimeout: number;
  readonly keepAliveInterval: number;
  readonly guestLimit: number;
  readonly guestWindow: 'lifetime' | 'daily';
  readonly memberLimit: number;
  readonly burstLimit: number;
  readonly identityCacheTime: number;
  readonly corsOrigins: readonly string[];
  readonly keysTable: string;
  readonly quotaTable: string;
  readonly networkSalt: string | undefined;
  readonly networkSaltSecretId: string | undefined;
  readonly edgeHeader: string | undefined;
  readonly edgeSecretId: string | undefined;
  readonly metricsNamespace: string;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Thrown when settings are wrong: one fault a line, each naming the variable and what it may be. */
export class ConfigError extends Error {
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(faults.join('\n'));
    this.name = 'ConfigError';
    this.faults = faults;
  }
}

/** Reads settings one by one and collects their faults. */
export function createSettingReader(environment: Environment, faults: string[]) {
  const readSetting = <T>(name: string, setting: Setting<T>): T | undefined => {
    const given = environment[name]?.trim() || undefined;
    const raw = given ?? setting.fallback;
    if (raw === undefined) return undefined;
    const value = setting.parse(raw);
    if (value === undefined) faults.push(`${name} must be ${setting.expects}`);
    return value;
  };
  const optional = <N extends SettingName>(name: N) =>
    readSetting(name, settings[name] as Setting<Parsed<(typeof settings)[N]>>);
  const required = <N extends SettingName>(name: N) => {
    const setting = settings[name];
    const value = optional(name);
    if (value === undefined && !environment[name]?.trim()) faults.push(`${name} is missing: ${setting.expects}`);
    return value as Parsed<(typeof settings)[N]>;
  };
  const withFallback = <N extends SettingName>(name: N) => optional(name) as Parsed<(typeof settings)[N]>;
  return { readSetting, optional, required, withFallback };
}

/** Reads every setting at once and reports all faults together. */
export function readConfig(environment: Environment): Config {
  const faults: string[] = [];
  const { readSetting, optional, required, withFallback } = createSettingReader(environment, faults);

  const config: Config = {
    serviceName: withFallback('SERVICE_NAME'),
    appUrl: optional('APP_URL'),
    gatewayUrl: optional('GATEWAY_URL'),
    modelAliases: withFallback('MODEL_ALIASES'),
    upstreams: readUpstreams(environment, readSetting, faults),
    upstreamSecretId: optional('UPSTREAM_SECRET_ID'),
    upstreamNames: withFallback('UPSTREAM_NAMES'),
    upstreamSignsThinking: withFallback('UPSTREAM_SIGNS_THINKING'),
    connectTimeout: withFallback('UPSTREAM_CONNECT_TIMEOUT'),
    idleTimeout: withFallback('UPSTREAM_IDLE_TIMEOUT'),
    requestTimeout: withFallback('REQUEST_TIMEOUT'),
    keepAliveInterval: withFallback('KEEP_ALIVE_INTERVAL'),
    guestLimit: withFallback('GUEST_LIMIT'),
    guestWindow: withFallback('GUEST_WINDOW'),
    memberLimit: withFallback('MEMBER_LIMIT'),
    burstLimit: withFallback('BURST_LIMIT'),
    identityCacheTime: withFallback('IDENTITY_CACHE_SECONDS'),
    corsOrigins: withFallback('CORS_ORIGINS'),
    keysTable: required('KEYS_TABLE'),
    quotaTable: required('QUOTA_TABLE'),
    networkSalt: optional('NETWORK_SALT'),
    networkSaltSecretId: optional('NETWORK_SALT_SECRET_ID'),
    edgeHeader: optional('EDGE_HEADER'),
    edgeSecretId: optional('EDGE_SECRET_ID'),
    metricsNamespace: withFallback('METRICS_NAMESPACE'),
  };
  faults.push(...contradictions(config, environment));
  if (faults.length > 0) throw new ConfigError(faults);
  return Object.freeze(config);
}

type Parsed<S> = S extends Setting<infer T> ? T : never;
type ReadSetting = <T>(name: string, setting: Setting<T>) => T | undefined;

/** `UPSTREAM_…` first, then `UPSTREAM_2_…`, `UPSTREAM_3_…` in the order of their numbers. */
function readUpstreams(environment: Environment, readSetting: ReadSetting, faults: string[]): Upstream[] {
  const numbers = new Set<number>();
  for (const name of Object.keys(environment)) {
    const match = /^UPSTREAM_(\d+)_(\w+)$/.exec(name);
    if (!match || !environment[name]?.trim()) continue;
    if (!Object.hasOwn(upstreamSettings, match[2] ?? '') || Number(match[1]) < 2)
      faults.push(`${name} is no known setting`);
    else numbers.add(Number(match[1]));
  }
  const prefixes = ['UPSTREAM', ...[...numbers].sort((a, b) => a - b).map((number) => `UPSTREAM_${number}`)];
  const upstreams: Upstream[] = [];
  for (const prefix of prefixes) {
    const read = <N extends keyof typeof upstreamSettings>(name: N) =>
      readSetting(`${prefix}_${name}`, upstreamSettings[name] as Setting<Parsed<(typeof upstreamSettings)[N]>>);
    const needed = <N extends 'BASE_URL' | 'TEXT_MODEL' | 'VISION_MODEL'>(name: N) => {
      const value = read(name);
      const variable = `${prefix}_${name}`;
      if (!environment[variable]?.trim()) faults.push(`${variable} is missing: ${upstreamSettings[name].expects}`);
      return value ?? '';
    };
    const baseUrl = needed('BASE_URL');
    upstreams.push({
      prefix,
      baseUrl,
      responsesBaseUrl: read('RESPONSES_BASE_URL') ?? baseUrl,
      messagesBaseUrl: read('MESSAGES_BASE_URL') ?? baseUrl,
      textModel: needed('TEXT_MODEL'),
      visionModel: needed('VISION_MODEL'),
      apiKeys: read('API_KEYS') ?? [],
    });
  }
  return upstreams;
}

/** Settings that are right by themselves and wrong together. */
function contradictions(config: Config, environment: Environment): string[] {
  const faults = networkFaults(config, environment);
  const publicModels = [config.serviceName, `${config.serviceName}-vision`];
  for (const { from, prefix, to } of config.modelAliases ?? []) {
    if (!publicModels.includes(to)) {
      faults.push(`MODEL_ALIASES maps ${from} to ${to}, which must be ${publicModels.join(' or ')}`);
    }
    if (!prefix && publicModels.includes(from)) {
      faults.push(`MODEL_ALIASES maps ${from}, which is a public model: its id always means itself`);
    }
  }
  return faults;
}

/** What is wrong with the settings by which callers' networks are told apart. */
export function networkFaults(
  config: Pick<Config, 'networkSalt' | 'networkSaltSecretId' | 'edgeHeader' | 'edgeSecretId'>,
  environment: Environment,
): string[] {
  const faults: string[] = [];
  if (config.networkSalt === undefined && config.networkSaltSecretId === undefined && !environment.NETWORK_SALT) {
    faults.push('NETWORK_SALT_SECRET_ID is missing: the secret that network addresses are hashed with');
  }
  if ((config.edgeHeader === undefined) !== (config.edgeSecretId === undefined)) {
    faults.push('EDGE_HEADER and EDGE_SECRET_ID belong together: set both or neither');
  }
  return faults;
}
