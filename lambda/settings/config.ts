import { type Prices, roundUp } from '../budget/prices.ts';
import { accountsSections, sections, serverSettings } from './definitions.ts';
import { missingFeatures } from './features.ts';
import { createModels } from './models.ts';
import { readPrices } from './read-prices.ts';
import { collectFaults, type Environment, readNamed, readSections, type Sections } from './read-settings.ts';
import { offersEmbeddings, readUpstreams, type Upstream } from './read-upstreams.ts';
import { nameFaults } from './variable-names.ts';

type Read = Sections<typeof sections>;

/** Every setting of the gateway, by section, in camel case. Times are milliseconds, amounts of money millionths. */
export interface Config extends Omit<Read, 'service' | 'budget' | 'upstreams'> {
  readonly service: Read['service'] & { readonly offersEmbeddings: boolean };
  readonly budget: Omit<Read['budget'], 'prices'> & { readonly prices: Prices | undefined };
  /** `all`: the settings of each upstream. */
  readonly upstreams: Read['upstreams'] & { readonly all: readonly Upstream[] };
}

export function readConfig(environment: Environment): Config {
  return collectFaults((faults) => {
    const read = readSections(sections, environment, faults);
    const { accounts, quota } = read;
    const all = readUpstreams(environment, read.upstreams.upstreamStreamUsage, faults);
    const service = {
      ...read.service,
      offersEmbeddings: offersEmbeddings(all),
      notOffered: faults.length > 0 ? [] : missingFeatures(all),
    };
    const config: Config = {
      ...read,
      service,
      quota: accounts.access === 'keys' ? { ...quota, guestLimit: 0 } : quota,
      budget: { ...read.budget, prices: readPriceList(read.budget, service, faults) },
      upstreams: { ...read.upstreams, all },
    };
    faults.push(
      ...nameFaults(environment),
      ...networkFaults(config, environment),
      ...aliasFaults(service),
      ...signInFaults(accounts, environment),
    );
    return config;
  });
}

/** Budgets need prices. */
function readPriceList(
  { prices, memberBudget, spendLimit }: Read['budget'],
  service: Config['service'],
  faults: string[],
): Prices | undefined {
  if (prices !== undefined) {
    const found: string[] = [];
    const models = service.serviceName === undefined ? undefined : createModels(service).all;
    const priceList = readPrices(prices, models, found);
    faults.push(...found.map((fault) => `PRICES ${fault}`));
    return priceList;
  }
  for (const [name, amount] of Object.entries({ MEMBER_BUDGET: memberBudget, SPEND_LIMIT: spendLimit })) {
    if (amount !== undefined) faults.push(`${name} needs PRICES: without a price nothing can be counted against it`);
  }
  return undefined;
}

/** Faults of aliases that are valid alone but not together. */
function aliasFaults({ serviceName, modelAliases = [], offersEmbeddings }: Config['service']): string[] {
  if (serviceName === undefined) return []; // already reported
  const faults: string[] = [];
  const publicModels = createModels({ serviceName, offersEmbeddings }).all.map(({ id }) => id);
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
  { identity: { edgeHeader }, secrets: { networkSalt, networkSaltSecretId, edgeSecretId } }: AccountsConfig,
  environment: Environment,
): string[] {
  const faults: string[] = [];
  if (networkSalt === undefined && networkSaltSecretId === undefined && !environment.NETWORK_SALT) {
    faults.push('NETWORK_SALT_SECRET_ID or NETWORK_SALT is missing: the secret that network addresses are hashed with');
  }
  if ((edgeHeader === undefined) !== (edgeSecretId === undefined)) {
    faults.push('EDGE_HEADER and EDGE_SECRET_ID belong together: set both or neither');
  }
  return faults;
}

/** Faults in the OIDC settings, which must say who may sign in. */
function signInFaults(
  { oidcIssuer, oidcClientId, appUrl, oidcAllowedDomains, oidcAllowedGroups, oidcAllowAll }: Config['accounts'],
  environment: Environment,
): string[] {
  const needed = { OIDC_ISSUER: oidcIssuer, OIDC_CLIENT_ID: oidcClientId, APP_URL: appUrl };
  const given = { ...needed, OIDC_ALLOWED_DOMAINS: oidcAllowedDomains, OIDC_ALLOWED_GROUPS: oidcAllowedGroups };
  const isUnread = ([name, value]: [string, unknown]) => value === undefined && environment[name]?.trim();
  if (Object.entries(given).some(isUnread)) return []; // already reported
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

/** OIDC (`company`) first: where it is set up, wallets are the exception. */
export function waysToSignIn({ access, walletSignIn, oidcIssuer }: Config['accounts']): readonly WayToSignIn[] {
  const wallet = access === 'open' && walletSignIn;
  return [...(oidcIssuer === undefined ? [] : (['company'] as const)), ...(wallet ? (['wallet'] as const) : [])];
}

/** The web app where people get keys by themselves, if there is one. */
export const keysUrlOf = (accounts: Config['accounts']): string | undefined =>
  waysToSignIn(accounts).length > 0 ? accounts.appUrl : undefined;

/** Whether there is a /cli page. If only the operator issues keys, it just shows how to use one. */
export const hasClientsPage = (accounts: Config['accounts']): boolean =>
  accounts.access === 'keys' || waysToSignIn(accounts).length > 0;

/** What that page offers. */
export function clientsPageTitle(accounts: Config['accounts']): string | undefined {
  if (!hasClientsPage(accounts)) return undefined;
  return waysToSignIn(accounts).length > 0 ? 'Get a key' : 'Set up a client';
}

export type ServerConfig = ReturnType<typeof readServerConfig>;

/** The settings of the HTTP server. Times are milliseconds, sizes bytes. */
export function readServerConfig(environment: Environment) {
  const { awsLambdaHttpEndpoint, clientAddress, metricsPort, startCheck, ...rest } = collectFaults((faults) =>
    readNamed(serverSettings, environment, faults),
  );
  // Lambda says where to listen, and sends the caller's address in a header.
  const [, host = rest.host, port = rest.port] = /^(.+):(\d+)$/.exec(awsLambdaHttpEndpoint ?? '') ?? [];
  const inLambda = awsLambdaHttpEndpoint !== undefined;
  return {
    ...rest,
    host: host.replace(/^\[(.*)\]$/, '$1'),
    port: Number(port),
    /** There every new environment would ask. */
    startCheck: startCheck && !inLambda,
    /** Lambda lets nobody reach a second port. */
    metricsPort: inLambda ? undefined : metricsPort,
    clientAddress: clientAddress ?? (inLambda ? 'x-forwarded-for' : 'socket'),
    /** Whether the account pages are served here. On Lambda they have a function of their own, the only one that may write keys. */
    servesWallet: !inLambda,
    /** The scheme that callers use: Lambda terminates https in front of the server. */
    scheme: inLambda ? 'https' : 'http',
  } as const;
}

/** The settings of the accounts function: a subset of the gateway's. */
export type AccountsConfig = Sections<typeof accountsSections>;

export function readAccountsConfig(environment: Environment): AccountsConfig {
  return collectFaults((faults) => {
    const config = readSections(accountsSections, environment, faults);
    faults.push(
      ...nameFaults(environment),
      ...networkFaults(config, environment),
      ...signInFaults(config.accounts, environment),
    );
    return config;
  });
}

/** What is reserved for the output of a request without an output limit, by model, in micros. */
export function reservedByDefault(prices: Prices, reservedOutput: number): Record<string, number> {
  const costs = [...prices].map(([id, { output, maxOutput }]) => {
    return [id, roundUp(BigInt(maxOutput ?? reservedOutput) * BigInt(output))];
  });
  return Object.fromEntries(costs);
}
