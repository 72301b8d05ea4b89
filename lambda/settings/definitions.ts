import { budgetWindows } from '../budget/budget-window.ts';
import { amountExpected, readAmount } from '../budget/money.ts';
import { featureNames } from '../dialects/names.ts';
import {
  byDefault,
  choice,
  duration,
  flag,
  integer,
  issuerUrl,
  list,
  mebibytes,
  required,
  seconds,
  splitList,
  text,
  urlWithout,
} from './kinds.ts';
import type { Setting, Table } from './read-settings.ts';

export interface Alias {
  readonly from: string;
  /** Whether `from` is a prefix of ids rather than a whole id. */
  readonly prefix: boolean;
  readonly to: string;
}

const aliases: Setting<readonly Alias[]> = {
  expects: 'from=to pairs separated by commas, where a trailing * makes a prefix, such as gpt-*=svc,eyes=svc-vision',
  parse: (value) => {
    const pairs = splitList(value).map((pair) => /^([^=*\s]+)(\*?)=([^=*\s]+)$/.exec(pair));
    return pairs.every((pair) => pair !== null)
      ? pairs.map(([, from = '', star, to = '']) => ({ from, prefix: star === '*', to }))
      : undefined;
  },
};

export const amount: Setting<number> = {
  expects: amountExpected,
  parse: readAmount,
  schema: { type: 'number', minimum: 0 },
};

/** Parsed later, by `readPrices`, because its faults depend on the public models. */
const prices: Setting<string> = {
  expects:
    'a JSON object with input and output for each public model, per million tokens, such as {"svc": {"input": 2.50, "output": 10}, "svc-vision": {"input": 1, "output": 4}}',
  parse: (value) => value,
  schema: { type: 'object' },
};

/** For the pages: the gateway itself knows its upstreams. */
const missing = list(`some of ${featureNames.join(', ')}`, {
  test: (item) => featureNames.some((one) => one === item),
});

const headerName = text('a header name in lower case, such as cloudfront-viewer-address', /^[a-z0-9-]{1,64}$/);
const secretId = text('the name or ARN of a secret', /^[\w/+=.@:-]{1,512}$/);
const endpoint: Setting<string> = {
  expects: 'a host and a port, such as 127.0.0.1:8080',
  parse: (value) => (Number(/^.+:(\d{1,5})$/.exec(value)?.[1]) <= 65_535 ? value : undefined),
};
const folder: Setting<string> = { expects: 'a folder', parse: (path) => path };
const tableName = text('the name of a DynamoDB table', /^[\w.-]{3,255}$/);

/**
 * All settings by environment variable, in the sections of the config. Those of a single upstream are in upstream-definitions.ts.
 * What each setting means is in descriptions.ts, which functions don't load.
 */
export const sections = {
  /** What the deployment is called, and what it offers. */
  service: {
    SERVICE_NAME: byDefault(
      'svc',
      text('2 to 20 lower-case letters, digits and dashes, a letter first', /^[a-z][a-z0-9-]{1,19}$/),
    ),
    MODEL_ALIASES: byDefault('', aliases),
    GATEWAY_URL: urlWithout(/\/v1$/, 'the http(s) URL of the gateway, without /v1'),
    CONTEXT_WINDOW: integer(1000, 100_000_000),
    NOT_OFFERED: byDefault('', missing),
  },
  /** Who gets a key, and how people sign in for one. */
  accounts: {
    ACCESS: byDefault('open', choice(['open', 'keys'])),
    APP_URL: urlWithout(/\/cli$/, 'the http(s) URL of the web app, without /cli'),
    WALLET_SIGN_IN: byDefault('true', flag()),
    OIDC_ISSUER: issuerUrl,
    OIDC_CLIENT_ID: text('the client id that the provider has given', /^[\x21-\x7e]{1,255}$/),
    OIDC_ALLOWED_DOMAINS: list(
      'domains of e-mail addresses separated by commas, such as example.com',
      /^([a-z\d]([a-z\d-]{0,61}[a-z\d])?\.)+([a-z]{2,63}|xn--[a-z\d-]{1,59})$/i,
    ),
    OIDC_ALLOWED_GROUPS: list('names or ids of groups separated by commas', /^\P{C}{1,256}$/u),
    OIDC_GROUPS_CLAIM: byDefault('groups', text('the name of a claim', /^[\x21-\x7e]{1,255}$/)),
    OIDC_ALLOW_ALL: byDefault('false', flag()),
    OIDC_KEY_DAYS: byDefault('30', integer(1, 3650)),
    OIDC_KEYS: byDefault('20', integer(1, 100)),
    DEVICE_KEY_DAYS: byDefault('30', integer(1, 3650)),
  },
  /** How callers are identified. */
  identity: {
    IDENTITY_CACHE_SECONDS: byDefault('30', seconds(0, 60)),
    EDGE_HEADER: headerName,
    EDGE_ONLY: byDefault('true', flag()),
  },
  /** Request limits, per caller and for all callers together. */
  quota: {
    GUEST_LIMIT: byDefault('3', integer(0, 1_000_000)),
    GUEST_WINDOW: byDefault('lifetime', choice(['lifetime', 'daily'])),
    MEMBER_LIMIT: byDefault('50', integer(0, 1_000_000)),
    BURST_LIMIT: byDefault('20', integer(1, 10_000)),
    DAILY_LIMIT: integer(1, 10_000_000),
    GUEST_DAILY_LIMIT: integer(1, 10_000_000),
    REFUND_REFUSALS: byDefault('false', flag()),
  },
  /** Prices, budgets and the spend limit. */
  budget: {
    PRICES: prices,
    CURRENCY: byDefault('USD', text('three capital letters, such as USD or EUR', /^[A-Z]{3}$/)),
    MEMBER_BUDGET: amount,
    MEMBER_BUDGET_WINDOW: byDefault('month', choice(budgetWindows)),
    SPEND_LIMIT: amount,
    RESERVED_OUTPUT: byDefault('4096', integer(1, 100_000_000)),
  },
  /** For every request and its response. */
  request: {
    REQUEST_TIMEOUT: byDefault('870', duration(0.1, 890)),
    REQUEST_BODY_LIMIT: byDefault('6', mebibytes(1, 32)),
    KEEP_ALIVE_INTERVAL: byDefault('15', duration(0.05, 300)),
    RATE_LIMIT_HEADERS: byDefault('false', flag()),
    CORS_ORIGINS: byDefault(
      '*',
      list(
        '* or origins as browsers write them, separated by commas, such as https://app.example',
        // An origin in another spelling, or with a * inside, would never match.
        { test: (item) => item === '*' || (/^https?:\/\/[^*]+$/.test(item) && URL.parse(item)?.origin === item) },
      ),
    ),
  },
  /** For all upstreams. */
  upstreams: {
    UPSTREAM_STREAM_USAGE: byDefault('false', flag()),
    UPSTREAM_CALLER_IDS: byDefault('pass', choice(['pass', 'hash'])),
    UPSTREAM_TRACE: byDefault('false', flag()),
    UPSTREAM_CONNECT_TIMEOUT: byDefault('5', duration(0.05, 60)),
    UPSTREAM_IDLE_TIMEOUT: byDefault('300', duration(0.05, 900)),
  },
  /** Which names to hide from answers, and where. */
  hiding: {
    UPSTREAM_NAMES: byDefault('', list('names separated by commas, each of 2 to 100 characters', /^.{2,100}$/u)),
    HIDE_IN_TEXT: byDefault('names', choice(['names', 'none'])),
  },
  /** Secrets, or the ids to read them by. */
  secrets: {
    UPSTREAM_SECRET_ID: secretId,
    NETWORK_SALT: text('at least 16 characters', /^.{16,}$/s),
    NETWORK_SALT_SECRET_ID: secretId,
    EDGE_SECRET_ID: secretId,
    OIDC_CLIENT_SECRET: text(
      'the client’s secret; only for local use, deployed it is a secret of its own',
      /^\P{C}{1,1000}$/u,
    ),
    OIDC_CLIENT_SECRET_ID: secretId,
  },
  /** Logs and metrics. */
  log: {
    METRICS_NAMESPACE: byDefault('InferenceGateway', text('the namespace of CloudWatch metrics', /^[\w./#-]{1,200}$/)),
    DEPLOYED_COMMIT: text("a commit's hash, with -dirty if there were further changes", /^[0-9a-f]{7,64}(-dirty)?$/),
  },
} as const satisfies Record<string, Table>;

/** Where keys and counters are stored, unless DATA_DIR is set. */
export const tableSettings = {
  KEYS_TABLE: required(tableName),
  QUOTA_TABLE: required(tableName),
} as const satisfies Table;

const { service, identity, quota, budget, secrets } = sections;

/** The subset that the accounts function reads. */
export const accountsSections = {
  service: pick(service, 'SERVICE_NAME', 'GATEWAY_URL', 'CONTEXT_WINDOW', 'NOT_OFFERED'),
  accounts: sections.accounts,
  identity: pick(identity, 'EDGE_HEADER', 'EDGE_ONLY'),
  quota: pick(quota, 'GUEST_LIMIT', 'GUEST_WINDOW', 'MEMBER_LIMIT'),
  budget: pick(budget, 'CURRENCY', 'MEMBER_BUDGET', 'MEMBER_BUDGET_WINDOW'),
  secrets: pick(
    secrets,
    'NETWORK_SALT',
    'NETWORK_SALT_SECRET_ID',
    'EDGE_SECRET_ID',
    'OIDC_CLIENT_SECRET',
    'OIDC_CLIENT_SECRET_ID',
  ),
  log: sections.log,
} as const;

function pick<T extends Table, Name extends keyof T>(table: T, ...names: readonly Name[]): Pick<T, Name> {
  return Object.fromEntries(names.map((name) => [name, table[name]])) as Pick<T, Name>;
}

/** All settings by name: the one list that the gateway, the stack and the docs share. */
export const settings: Table = Object.assign({}, ...Object.values(sections), tableSettings);
export const accountsSettings: Table = Object.assign({}, ...Object.values(accountsSections), tableSettings);

/** More settings, which only the HTTP server has. */
export const serverSettings = {
  PORT: byDefault('8787', { ...integer(0, 65_535), expects: 'a whole number from 0 to 65535, 0 for any free port' }),
  HOST: byDefault('127.0.0.1', text('an address of this machine, such as 127.0.0.1', /^[\w.:-]+$/)),
  AWS_LAMBDA_HTTP_ENDPOINT: endpoint,
  CLIENT_ADDRESS: choice(['socket', 'x-forwarded-for']),
  BODY_BUDGET: byDefault('256', mebibytes(1, 65_536)),
  START_CHECK: byDefault('true', flag()),
  METRICS_PORT: { ...integer(0, 65_535), expects: 'a whole number from 0 to 65535, 0 for any free port' },
  LOG_METRICS: byDefault('true', flag()),
  SHUTDOWN_DRAIN: byDefault('0', duration(0, 600)),
  SHUTDOWN_GRACE: byDefault('0.3', duration(0, 600)),
  DATA_DIR: folder,
  OTEL_EXPORTER_OTLP_ENDPOINT: urlWithout(/\/v1\/traces$/, 'the http(s) URL of a collector, without /v1/traces'),
  OTEL_SEMCONV_STABILITY_OPT_IN: byDefault('', list('words separated by commas', /^[\w/.-]{1,64}$/)),
} as const satisfies Record<string, Setting<unknown>>;
