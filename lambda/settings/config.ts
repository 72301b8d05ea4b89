import type { Budget, BudgetWindow } from '../budget/budget-window.ts';
import { type Prices, readPrices } from '../budget/prices.ts';
import type { Value } from './kinds.ts';
import { type CamelNamed, camelNamed, collectFaults, type Environment, readSettings } from './read.ts';
import {
  type Address,
  accountsSettings,
  ownAddresses,
  serverSettings,
  settings,
  translationSettings,
  upstreamSettings,
} from './table.ts';

export interface Upstream {
  /** The prefix of its settings: `UPSTREAM`, `UPSTREAM_2` …; the secret has its keys under `PREFIX_API_KEYS`. */
  readonly prefix: string;
  /** The base URL under which each dialect lives. */
  readonly addresses: Readonly<Record<Address, string>>;
  /** What it calls its models in each dialect. */
  readonly models: Readonly<Record<Address, { readonly text: string; readonly vision: string }>>;
  /** Headers that are added to each of its requests. */
  readonly headers: Readonly<Record<string, string>>;
  /** Keys from the environment. Only for local use: a deployment reads them from its secret. */
  readonly apiKeys: readonly string[];
  /** The dialects that it speaks itself. */
  readonly dialects: readonly Address[];
  /** How requests of the others are translated for it. */
  readonly translation: Translation;
}

/** What an operator says of an upstream that requests are translated for. */
export interface Translation {
  readonly limitName: Read<'OUTPUT_LIMIT_NAME'>;
  readonly limit: Read<'OUTPUT_LIMIT'>;
  readonly reasoning: Read<'REASONING'>;
  readonly levels: Read<'REASONING_LEVELS'>;
  readonly replay: Read<'REASONING_REPLAY'>;
  readonly systemTurns: Read<'SYSTEM_TURNS'>;
  readonly toolImages: Read<'TOOL_IMAGES'>;
  readonly unknown: Read<'TRANSLATE_UNKNOWN'>;
  readonly streamOptions: Read<'STREAM_OPTIONS'>;
  /** Where the tokens of a request are counted. */
  readonly tokenizeUrl: Read<'TOKENIZE_URL'>;
}

type Read<N extends keyof typeof translationSettings> = Value<(typeof translationSettings)[N]>;

/** The keys and headers that an upstream asks for. */
export interface Access {
  /** Those of the environment, else those of the secret. */
  readonly keys: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  /** More headers, which are shown to nobody else. */
  readonly secretHeaders: Readonly<Record<string, string>>;
}

/** Every setting of the function, under its name in camel case. Times are milliseconds, amounts of money millionths. */
export type Config = Omit<CamelNamed<{ [N in keyof typeof settings]: Value<(typeof settings)[N]> }>, 'prices'> & {
  readonly prices: Prices | undefined;
  readonly upstreams: readonly Upstream[];
};

export function readConfig(environment: Environment): Config {
  return collectFaults((faults) => {
    const read = camelNamed(readSettings(settings, environment, faults));
    const guests = read.access === 'keys' ? { guestLimit: 0 } : {};
    const prices = readPriceList(read, faults);
    const config = { ...read, ...guests, prices, upstreams: readUpstreams(environment, faults) };
    faults.push(...networkFaults(config, environment), ...aliasFaults(config), ...signInFaults(config));
    faults.push(...signingFaults(config), ...usageFaults(config));
    return config;
  });
}

interface Money {
  readonly serviceName: string;
  readonly prices: string | undefined;
  readonly memberBudget: number | undefined;
  readonly spendLimit: number | undefined;
}

/** The currency and the budget of members, for those who only speak of money; nothing where there are no prices. */
export function moneyOf(config: Pick<Config, 'prices' | 'currency' | keyof MemberBudget>): {
  readonly currency?: string;
  readonly memberBudget?: Budget | undefined;
} {
  return config.prices === undefined ? {} : { currency: config.currency, memberBudget: memberBudgetOf(config) };
}

interface MemberBudget {
  readonly memberBudget: number | undefined;
  readonly memberBudgetWindow: BudgetWindow;
}

/** What a member may spend without a budget of its own. */
export function memberBudgetOf({ memberBudget, memberBudgetWindow }: MemberBudget): Budget | undefined {
  return memberBudget === undefined ? undefined : { amount: memberBudget, window: memberBudgetWindow };
}

/** The prices, which a budget needs. */
function readPriceList({ serviceName, prices, memberBudget, spendLimit }: Money, faults: string[]): Prices | undefined {
  if (prices !== undefined) {
    if (serviceName === undefined) return undefined; // reported by its own check
    const found: string[] = [];
    const read = readPrices(prices, publicModelsOf(serviceName), found);
    faults.push(...found.map((fault) => `PRICES ${fault}`));
    return read;
  }
  for (const [name, amount] of Object.entries({ MEMBER_BUDGET: memberBudget, SPEND_LIMIT: spendLimit })) {
    if (amount !== undefined) faults.push(`${name} needs PRICES: without a price nothing can be counted against it`);
  }
  return undefined;
}

const publicModelsOf = (serviceName: string) => [serviceName, `${serviceName}-vision`];

/** `UPSTREAM_…` first, then `UPSTREAM_2_…`, `UPSTREAM_3_…` in the order of their numbers. */
function readUpstreams(environment: Environment, faults: string[]): Upstream[] {
  const numbers = new Set<number>();
  for (const name of Object.keys(environment)) {
    const match = /^UPSTREAM_(\d+)_(\w+)$/.exec(name);
    if (!match || !environment[name]?.trim()) continue;
    if (!Object.hasOwn(upstreamSettings, match[2] ?? '') || Number(match[1]) < 2)
      faults.push(`${name} is not a known setting`);
    else numbers.add(Number(match[1]));
  }
  const prefixes = ['UPSTREAM', ...[...numbers].sort((a, b) => a - b).map((number) => `UPSTREAM_${number}`)];
  return prefixes.map((prefix) => {
    const read = readSettings(upstreamSettings, environment, faults, `${prefix}_`);
    const plain = { url: read.BASE_URL, text: read.TEXT_MODEL, vision: read.VISION_MODEL };
    const own = ownAddresses.map((address) => {
      const url = read[`${address}_BASE_URL`] ?? plain.url;
      const text = read[`${address}_TEXT_MODEL`] ?? plain.text;
      return [address.toLowerCase(), { url, text, vision: read[`${address}_VISION_MODEL`] ?? plain.vision }] as const;
    });
    const places = Object.entries({ chat: plain, ...Object.fromEntries(own) });
    const addresses = Object.fromEntries(places.map(([name, { url }]) => [name, url])) as Upstream['addresses'];
    const models = Object.fromEntries(
      places.map(([name, { text, vision }]) => [name, { text, vision }]),
    ) as Upstream['models'];
    const { HEADERS: headers = {}, API_KEYS: apiKeys = [], DIALECTS: dialects } = read;
    faults.push(...translationFaults(prefix, read, environment));
    return { prefix, addresses, models, headers, apiKeys, dialects, translation: translationOf(read) };
  });
}

function translationOf(read: { readonly [N in keyof typeof translationSettings]: Read<N> }): Translation {
  return {
    limitName: read.OUTPUT_LIMIT_NAME,
    limit: read.OUTPUT_LIMIT,
    reasoning: read.REASONING,
    levels: read.REASONING_LEVELS,
    replay: read.REASONING_REPLAY,
    systemTurns: read.SYSTEM_TURNS,
    toolImages: read.TOOL_IMAGES,
    unknown: read.TRANSLATE_UNKNOWN,
    streamOptions: read.STREAM_OPTIONS,
    tokenizeUrl: read.TOKENIZE_URL,
  };
}

const lower = <Name extends string>(name: Name) => name.toLowerCase() as Lowercase<Name>;

/** The dialect that has signatures, and an endpoint that counts tokens. */
const messages = lower(ownAddresses[1]);

function signingFaults({ upstreamSignsThinking, upstreams }: Config): string[] {
  const speakMessages = upstreams.some(({ dialects }) => dialects === undefined || dialects.includes(messages));
  if (!upstreamSignsThinking || speakMessages) return [];
  return [
    'UPSTREAM_SIGNS_THINKING is for upstreams that speak messages, but UPSTREAM_DIALECTS leaves that out everywhere: remove it',
  ];
}

function usageFaults({ upstreamStreamUsage, upstreams }: Config): string[] {
  const refusing = upstreams.filter(({ translation }) => upstreamStreamUsage && translation.streamOptions === 'omit');
  return refusing.map(
    ({ prefix }) =>
      `UPSTREAM_STREAM_USAGE asks all streams for their usage, which ${prefix}_STREAM_OPTIONS says is refused: remove one of them`,
  );
}

/** Settings of an upstream that say what its dialects make untrue or needless. */
function translationFaults(
  prefix: string,
  read: { readonly [N in keyof typeof upstreamSettings]?: unknown } & {
    readonly DIALECTS: readonly Address[] | undefined;
  },
  environment: Environment,
): string[] {
  const { DIALECTS: dialects, REASONING: reasoning } = read;
  if (dialects === undefined) return []; // reported by its own check, as is what could not be read
  const set = Object.keys(upstreamSettings).filter(
    (name) => environment[`${prefix}_${name}`]?.trim() && read[name as keyof typeof upstreamSettings] !== undefined,
  );
  const missing = ownAddresses.filter((address) => !dialects.includes(lower(address)));
  const needless = set.filter((name) => missing.some((address) => name.startsWith(`${address}_`)));
  const untranslated = set.filter((name) => missing.length === 0 && Object.hasOwn(translationSettings, name));
  const countsItself = missing.length > 0 && dialects.includes(messages) && set.includes('TOKENIZE_URL');
  const withoutLevels = missing.length > 0 && set.includes('REASONING_LEVELS') && reasoning !== 'reasoning_effort';
  return [
    ...needless.map(
      (name) => `${prefix}_${name} is for a dialect that ${prefix}_DIALECTS leaves out: remove one of them`,
    ),
    ...untranslated.map(
      (name) => `${prefix}_${name} is for translation, but ${prefix}_DIALECTS names every dialect: remove it`,
    ),
    ...(countsItself
      ? [
          `${prefix}_TOKENIZE_URL counts for clients of messages, whom ${prefix}_DIALECTS sends upstream as they are: remove it`,
        ]
      : []),
    ...(withoutLevels ? [`${prefix}_REASONING_LEVELS needs ${prefix}_REASONING=reasoning_effort`] : []),
  ];
}

/** Faults of aliases that are valid alone but not together. */
function aliasFaults({ serviceName, modelAliases = [] }: Config): string[] {
  if (serviceName === undefined) return []; // reported by its own check
  const faults: string[] = [];
  const publicModels = publicModelsOf(serviceName);
  const seen = new Set<string>();
  for (const { from, prefix, to } of modelAliases) {
    const alias = prefix ? `${from}*` : from;
    if (seen.has(alias)) faults.push(`MODEL_ALIASES maps ${alias} twice`);
    seen.add(alias);
    if (!publicModels.includes(to)) {
      faults.push(`MODEL_ALIASES maps ${from} to ${to}, which must be ${publicModels.join(' or ')}`);
    }
    if (!prefix && publicModels.includes(from)) {
      faults.push(`MODEL_ALIASES maps ${from}, which is a public model: its id always means itself`);
    }
  }
  return faults;
}

/** Faults in the settings that identify callers' networks. */
function networkFaults(
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

/** Faults in the settings of the company's sign-in, which must say who may come in. */
function signInFaults(config: Pick<Config, `oidc${string}` & keyof Config> & Pick<Config, 'appUrl'>): string[] {
  const { oidcIssuer, oidcClientId, appUrl, oidcAllowedDomains, oidcAllowedGroups, oidcAllowAll } = config;
  const needed = { OIDC_ISSUER: oidcIssuer, OIDC_CLIENT_ID: oidcClientId, APP_URL: appUrl };
  const isWanted = [oidcIssuer, oidcClientId, oidcAllowedDomains, oidcAllowedGroups].some((set) => set !== undefined);
  if (!isWanted && !oidcAllowAll) return [];
  const missing = Object.entries(needed).flatMap(([name, value]) => (value === undefined ? [name] : []));
  if (missing.length > 0)
    return [`${missing.join(' and ')} missing: signing in with OpenID Connect needs ${Object.keys(needed).join(', ')}`];
  if (oidcAllowedDomains?.length || oidcAllowedGroups?.length || oidcAllowAll) return [];
  return [
    'OIDC_ISSUER alone lets in everybody who has an account there: set OIDC_ALLOWED_DOMAINS or OIDC_ALLOWED_GROUPS, or OIDC_ALLOW_ALL=true if that is meant',
  ];
}

export type WayToSignIn = 'company' | 'wallet';

/** The company's account first: where there is one, a wallet is the exception. */
export function waysToSignIn({
  access,
  walletSignIn,
  oidcIssuer,
}: Pick<Config, 'access' | 'walletSignIn' | 'oidcIssuer'>): readonly WayToSignIn[] {
  const wallet = access === 'open' && walletSignIn;
  return [...(oidcIssuer === undefined ? [] : (['company'] as const)), ...(wallet ? (['wallet'] as const) : [])];
}

/** The HTTP server's own settings. Times are milliseconds, sizes bytes. */
export interface ServerConfig {
  readonly host: string;
  readonly port: number;
  readonly clientAddress: 'socket' | 'x-forwarded-for';
  readonly bodyBudget: number;
  readonly shutdownGrace: number;
  /** Whether the wallet's page is served here. In Lambda it has a function of its own, which alone may write keys. */
  readonly servesWallet: boolean;
  /** The scheme that callers use: Lambda terminates https in front of the server. */
  readonly scheme: 'http' | 'https';
}

export function readServerConfig(environment: Environment): ServerConfig {
  const { awsLambdaHttpEndpoint, clientAddress, ...settings } = collectFaults((faults) =>
    camelNamed(readSettings(serverSettings, environment, faults)),
  );
  // Lambda says where to listen, and names the caller behind it in a header.
  const [, host = settings.host, port = settings.port] = /^(.+):(\d+)$/.exec(awsLambdaHttpEndpoint ?? '') ?? [];
  const inLambda = awsLambdaHttpEndpoint !== undefined;
  return {
    ...settings,
    host: host.replace(/^\[(.*)\]$/, '$1'),
    port: Number(port),
    clientAddress: clientAddress ?? (inLambda ? 'x-forwarded-for' : 'socket'),
    servesWallet: !inLambda,
    scheme: inLambda ? 'https' : 'http',
  };
}

/** The accounts function's settings: some of the gateway's. */
export type AccountsConfig = CamelNamed<{ [N in keyof typeof accountsSettings]: Value<(typeof accountsSettings)[N]> }>;

export function readAccountsConfig(environment: Environment): AccountsConfig {
  return collectFaults((faults) => {
    const config = camelNamed(readSettings(accountsSettings, environment, faults));
    faults.push(...networkFaults(config, environment), ...signInFaults(config));
    return config;
  });
}
