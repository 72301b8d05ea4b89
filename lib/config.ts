import { cloudFrontHeader } from '../lambda/identity/network.ts';
import { sayBedrockDefaults } from '../lambda/settings/bedrock.ts';
import { type Config, readConfig } from '../lambda/settings/config.ts';
import { sections, serverSettings, settings } from '../lambda/settings/definitions.ts';
import { isObject } from '../lambda/settings/json.ts';
import { isPrivateHost } from '../lambda/settings/private-host.ts';
import { ConfigError, readSettings, type Setting } from '../lambda/settings/read-settings.ts';
import { upstreamSettings } from '../lambda/settings/upstream-definitions.ts';
import { readUpstreamName, unknownSetting } from '../lambda/settings/variable-names.ts';
import { mostBurst } from '../lambda/store/dynamodb/schema.ts';
import { findWarnings, isExample, type Texts } from './config-warnings.ts';
import { readStageBlock } from './deployment-block.ts';
import { accountsShare, engineSettings, type StackValues, stackSettings, unreserved } from './stack-settings.ts';

/** One deployment: a stage of the `gateway` block in cdk.json, with the operator's gateway.json over it. */
export interface DeploymentConfig extends StackValues {
  readonly stage: string;
  /** The operator's part of the function's environment, including defaults. The stack adds what it creates itself. */
  readonly environment: Readonly<Record<string, string>>;
  /** That environment as the function parses it, with placeholders for what the stack creates. */
  readonly settings: Config;
  /** Further environment variables of the web engine. */
  readonly serverEnvironment: Readonly<Record<string, string>>;
  /** Describes the defaults at Bedrock. */
  readonly taken: readonly string[];
  /** What can be deployed, but is probably a mistake. */
  readonly warnings: readonly string[];
}

const tableName = 't'.repeat(80);
const secretArn = 's'.repeat(120);
/** What the stack sets itself, with placeholders as long as real values can get, so that the operator's part can be checked. */
export const setByStack: Readonly<Record<string, string>> = {
  KEYS_TABLE: tableName,
  QUOTA_TABLE: tableName,
  UPSTREAM_SECRET_ID: secretArn,
  NETWORK_SALT_SECRET_ID: secretArn,
  EDGE_SECRET_ID: secretArn,
  OIDC_CLIENT_SECRET_ID: secretArn,
  NOT_OFFERED: '',
  METRICS_NAMESPACE: 'm'.repeat(40),
  DEPLOYED_COMMIT: `${'0'.repeat(40)}-dirty`,
};

/** A placeholder: the stack's region is known only at deployment. */
export const deployedRegion = 'REGION';

/** The most that Lambda allows, in bytes of the environment as JSON. */
const environmentLimits = { 'function-url': 4_096, web: 32_768 } as const;

/** Settings of the HTTP server that an operator can't choose on Lambda. */
const decidedByLambda = Object.keys(serverSettings).filter((name) => name !== 'BODY_BUDGET');

/** Validates a stage with the function's own parsers, so that what deploys also starts. Reports all faults together. */
export function readDeploymentConfig(
  block: unknown,
  wantedStage?: unknown,
  own?: unknown,
  region = deployedRegion,
): DeploymentConfig {
  const { stage, values, placeOf } = readStageBlock(block, wantedStage, own);
  const named = Object.entries(values).map(([name, value]) => ({
    name,
    value,
    fault: nameFaultOf(name) ?? valueFaultOf(name, value),
  }));
  const faults = named.flatMap(({ fault }) => fault ?? []);
  const given = withoutExample(texts(named.filter(({ fault }) => fault === undefined)));
  const stackValues = readSettings(stackSettings, given, faults);
  const functionSettings = Object.entries(given).filter(
    ([name]) => !Object.hasOwn(stackSettings, name) && !Object.hasOwn(serverSettings, name),
  );
  const environment = {
    ...fallbacks(),
    ...Object.fromEntries(functionSettings),
    ...(stackValues.edge && { EDGE_HEADER: cloudFrontHeader }),
  };
  readSettings({ BODY_BUDGET: serverSettings.BODY_BUDGET }, given, faults);
  const serverEnvironment = {
    BODY_BUDGET: given.BODY_BUDGET ?? serverSettings.BODY_BUDGET.fallback,
    SHUTDOWN_GRACE: serverSettings.SHUTDOWN_GRACE.fallback,
    // The platform's load balancer appends the caller's address. This is the server's default anyway; set, it shows in the
    // template.
    CLIENT_ADDRESS: 'x-forwarded-for',
  };
  faults.push(...engineFaults(stackValues, given, faults), ...contradictions(stackValues, given));
  faults.push(...privateUpstreams(stackValues, environment));
  const read = readAsFunction({ ...environment, AWS_REGION: region }, faults);
  faults.push(...sizeFaults(environment, environmentLimits[stackValues.engine] ?? environmentLimits.web));
  const placed = (fault: string) => `${placeOf(fault)}: ${fault}`;
  if (read === undefined || faults.length > 0) throw new ConfigError([...new Set(faults)].map(placed));
  const warnings = findWarnings(stage, stackValues, environment, read).map(placed);
  const taken = sayBedrockDefaults(read.upstreams.all).map(placed);
  return { stage, ...stackValues, environment, settings: read, serverEnvironment, taken, warnings };
}

/** Removes the placeholder URL of cdk.json if the upstream has a default URL. */
function withoutExample(given: Texts): Texts {
  const { UPSTREAM_BASE_URL = '', ...others } = given;
  return given.UPSTREAM_AUTH === 'aws' && isExample(UPSTREAM_BASE_URL) ? others : given;
}

/** Why a name is not allowed in the block. */
export function nameFaultOf(name: string): string | undefined {
  if (decidedByLambda.includes(name)) return `${name} is for a server on a host of its own: on Lambda it is fixed`;
  const upstreamName = readUpstreamName(name)?.own ?? '';
  const known = [settings, stackSettings, { BODY_BUDGET: true }].some((table) => Object.hasOwn(table, name));
  if (!known && !Object.hasOwn(upstreamSettings, upstreamName)) {
    return unknownSetting(name, [...Object.keys(stackSettings), 'BODY_BUDGET']);
  }
  if (Object.hasOwn(setByStack, name)) return `${name} is set by the stack`;
  if (/^(NETWORK_SALT|OIDC_CLIENT_SECRET)$/.test(name) || upstreamName === 'API_KEYS')
    return `${name} belongs in a secret, not in a template`;
  return undefined;
}

/** Why a value has a type that no setting takes. */
function valueFaultOf(name: string, value: unknown): string | undefined {
  const tables: Readonly<Record<string, Setting<unknown>>> = { ...settings, ...stackSettings };
  const ofUpstream: Readonly<Record<string, Setting<unknown>>> = upstreamSettings;
  const setting = tables[name] ?? ofUpstream[readUpstreamName(name)?.own ?? ''];
  if (setting?.schema?.type === 'object' && isObject(value)) return undefined;
  if (!['string', 'number', 'boolean'].includes(typeof value)) return `${name} must be text, a number, true or false`;
  return undefined;
}

/** Defaults are written into the function's environment, so that a changed default shows in the infrastructure diff. */
function fallbacks(): Texts {
  const entries: [string, Setting<unknown>][] = Object.entries(settings);
  const written = entries.filter(([name, { fallback }]) => fallback && !Object.hasOwn(setByStack, name));
  return Object.fromEntries(written.map(([name, { fallback = '' }]) => [name, fallback]));
}

/** As environment variables: strings, without blank ones, which a function reads as unset. */
function texts(values: readonly { readonly name: string; readonly value: unknown }[]): Texts {
  const entries = values.map(({ name, value }) => [
    name,
    isObject(value) ? JSON.stringify(value) : String(value).trim(),
  ]);
  return Object.fromEntries(entries.filter(([, text]) => text !== ''));
}

function sizeFaults(environment: Texts, limit: number): string[] {
  const bytes = Buffer.byteLength(JSON.stringify({ ...environment, ...setByStack }));
  if (bytes <= limit) return [];
  const sizes = Object.entries(environment).map(([name, text]) => ({ name, size: Buffer.byteLength(text) }));
  const [longest] = sizes.sort((a, b) => b.size - a.size);
  const tooLong = `${longest?.name} is too long (${longest?.size} bytes)`;
  return [`${tooLong}: all settings together take ${bytes} bytes, and Lambda ${limit}`];
}

function readAsFunction(environment: Texts, faults: string[]): Config | undefined {
  const { EDGE_SECRET_ID, ...always } = setByStack;
  try {
    const edge = environment.EDGE_HEADER && { EDGE_SECRET_ID };
    return readConfig({ ...environment, ...always, ...edge });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    faults.push(...error.faults);
    return undefined;
  }
}

/** Settings of the other engine. Invalid ones already have a fault. */
function engineFaults({ engine }: StackValues, given: Texts, faults: readonly string[]): string[] {
  if (engine === undefined) return []; // invalid: reported by its own check
  const other = engine === 'web' ? 'function-url' : 'web';
  return engineSettings[other]
    .filter((name) => Object.hasOwn(given, name) && !faults.some((fault) => fault.startsWith(`${name} `)))
    .map((name) => `${name} does not exist with engine: ${engine}; leave it out (an empty text unsets a default)`);
}

/** Why an engine can't reach a private network. */
const keptOut = {
  // https://docs.aws.amazon.com/lambda/latest/dg/configuration-response-streaming.html#config-rs-vpc-compatibility
  'function-url': "Lambda's Function URLs do not stream from within a VPC",
  // https://docs.aws.amazon.com/lambda/latest/dg/web-functions-networking.html
  web: 'its web function has no network connector',
} as const;

/** Upstreams that only a server in their own network can reach. */
function privateUpstreams({ engine }: StackValues, environment: Texts): string[] {
  const isPrivate = (text: string) => isPrivateHost(URL.parse(text)?.hostname ?? '');
  const found = Object.entries(environment).filter(([name, text]) => /^UPSTREAM_.*_URL$/.test(name) && isPrivate(text));
  const why = `is private, and the stack can't reach it, because ${keptOut[engine] ?? keptOut['function-url']}`;
  return found.map(([name]) => `${name} ${why}: run the server beside the model server (docs/hosting.md)`);
}

/** Settings that are valid alone but not together. Those that are invalid alone already have a fault. */
function contradictions(values: StackValues, given: Texts): string[] {
  const { edge, edgeDomainName, edgeCertificateArn, edgeReadTimeout, reservedConcurrency, accountConcurrency } = values;
  const faults: string[] = [];
  if (values.alarmSpending !== undefined && !given.PRICES) {
    faults.push('alarmSpending needs PRICES: without a price nothing can be counted against it');
  }
  const taken = unreserved + accountsShare;
  const most = accountConcurrency - taken;
  if (reservedConcurrency !== undefined && reservedConcurrency > most) {
    const must = most > 0 ? `must be at most ${most}` : `needs an accountConcurrency above ${taken}`;
    faults.push(`reservedConcurrency ${must}: Lambda leaves ${unreserved} to others, and /cli gets ${accountsShare}`);
  }
  if ((sections.quota.BURST_LIMIT.parse(given.BURST_LIMIT ?? '') ?? 0) > mostBurst) {
    const instead =
      'for a caller who needs more, issue several keys with limits of their own: each has a counter to itself';
    faults.push(`BURST_LIMIT must be at most ${mostBurst}, which one counter can serve at once; ${instead}`);
  }
  if (!edge) {
    const useless = edge === false ? Object.keys(given).filter((name) => /^edge\w/.test(name)) : [];
    return [...faults, ...useless.map((name) => `${name} needs edge: true`)];
  }
  if (given.EDGE_HEADER) faults.push('EDGE_HEADER is set by the stack where edge is true');
  if ((edgeDomainName && !given.edgeCertificateArn) || (edgeCertificateArn && !given.edgeDomainName)) {
    faults.push('edgeDomainName and edgeCertificateArn belong together: set both or neither');
  }
  const { parse, fallback } = sections.request.KEEP_ALIVE_INTERVAL;
  const interval = parse(given.KEEP_ALIVE_INTERVAL ?? fallback) ?? 0;
  if (interval * 2 > edgeReadTimeout * 1000) {
    faults.push('KEEP_ALIVE_INTERVAL must be at most half of edgeReadTimeout, or the edge cuts silent streams');
  }
  return faults;
}
