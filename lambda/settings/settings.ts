import { metricNamespace } from '../report/metric-names.ts';

/** How one setting is read: text in, value out; undefined where the text is not what it may be. */
export interface Setting<T> {
  /** What the value may be, for error messages and docs. */
  readonly expects: string;
  /** The text that stands in for an unset variable; without one the setting may be absent. */
  readonly fallback?: string;
  readonly parse: (text: string) => T | undefined;
}

export interface Alias {
  readonly from: string;
  /** Whether `from` is the beginning of an id rather than a whole one. */
  readonly prefix: boolean;
  readonly to: string;
}

export const text = (expects: string, pattern: RegExp, fallback?: string): Setting<string> => ({
  expects,
  ...(fallback !== undefined && { fallback }),
  parse: (value) => (pattern.test(value) ? value : undefined),
});

export const integer = (from: number, to: number, fallback?: string): Setting<number> => ({
  expects: `a whole number from ${from} to ${to}`,
  ...(fallback !== undefined && { fallback }),
  parse: (value) => within(/^\d{1,9}$/, value, from, to),
});

/** Seconds in, milliseconds out. */
const seconds = (from: number, to: number, fallback: string): Setting<number> => ({
  expects: `seconds from ${from} to ${to}, fractions allowed`,
  fallback,
  parse: (value) => {
    const number = within(/^\d{1,6}(\.\d{1,6})?$/, value, from, to);
    return number === undefined ? undefined : Math.round(number * 1000);
  },
});

const choice = <const T extends string>(values: readonly T[], fallback: T): Setting<T> => ({
  expects: values.join(' or '),
  fallback,
  parse: (value) => values.find((known) => known === value),
});

export const flag = (fallback: 'true' | 'false'): Setting<boolean> => ({
  expects: 'true or false',
  fallback,
  parse: (value) => (value === 'true' ? true : value === 'false' ? false : undefined),
});

const list = (
  expects: string,
  items: { test(item: string): boolean },
  fallback?: string,
): Setting<readonly string[]> => ({
  expects,
  ...(fallback !== undefined && { fallback }),
  parse: (value) => {
    const values = splitList(value);
    return values.every((item) => items.test(item)) ? values : undefined;
  },
});

const baseUrl: Setting<string> = {
  expects: 'an http(s) URL with its version prefix and without query or user, such as https://host/api/v1',
  parse: (value) => {
    const url = URL.parse(value);
    const plain = url && /^https?:$/.test(url.protocol) && !url.search && !url.hash && !url.username && !url.password;
    return plain ? url.href.replace(/\/+$/, '') : undefined;
  },
};

/** An address that others extend: with this ending it would have it twice. */
const urlWithout = (ending: string, expects: string): Setting<string> => ({
  expects,
  parse: (value) => {
    const url = baseUrl.parse(value);
    return url?.endsWith(ending) ? undefined : url;
  },
});

const aliases: Setting<readonly Alias[]> = {
  expects: 'from=to pairs separated by commas, a trailing * making a prefix, such as gpt-*=svc,eyes=svc-vision',
  fallback: '',
  parse: (value) => {
    const pairs = splitList(value).map((pair) => /^([^=*\s]+)(\*?)=([^=*\s]+)$/.exec(pair));
    return pairs.every((pair) => pair !== null)
      ? pairs.map(([, from = '', star, to = '']) => ({ from, prefix: star === '*', to }))
      : undefined;
  },
};

const headerName = text('a header name in lower case, such as cloudfront-viewer-address', /^[a-z0-9-]{1,64}$/);
const modelId = text('a model id without white space', /^[^\s"\\]{1,200}$/);
const keyList = list('keys separated by commas', /^[\x21-\x7e]+$/);
const secretId = text('the name or ARN of a secret', /^[\w/+=.@:-]{1,512}$/);
const tableName = text('the name of a DynamoDB table', /^[\w.-]{3,255}$/);

/** The settings of one upstream. Those of a second, third … one are written `UPSTREAM_2_BASE_URL` and so on. */
export const upstreamSettings = {
  BASE_URL: baseUrl,
  RESPONSES_BASE_URL: baseUrl,
  MESSAGES_BASE_URL: baseUrl,
  TEXT_MODEL: modelId,
  VISION_MODEL: modelId,
  API_KEYS: keyList,
} as const satisfies Record<string, Setting<unknown>>;

/** Every other setting by its environment variable: the one list that the function, the stack and the docs share. */
export const settings = {
  SERVICE_NAME: text('2 to 20 letters, digits and dashes, a lower-case letter first', /^[a-z][a-z0-9-]{1,19}$/, 'svc'),
  APP_URL: urlWithout('/cli', 'the http(s) URL of the web app, without /cli'),
  GATEWAY_URL: urlWithout('/v1', 'the http(s) URL of the gateway, without /v1'),
  MODEL_ALIASES: aliases,
  UPSTREAM_SECRET_ID: secretId,
  UPSTREAM_NAMES: list('names separated by commas, each of 2 to 100 characters', /^.{2,100}$/u, ''),
  UPSTREAM_SIGNS_THINKING: flag('false'),
  UPSTREAM_CONNECT_TIMEOUT: seconds(0.05, 60, '5'),
  UPSTREAM_IDLE_TIMEOUT: seconds(0.05, 900, '120'),
  REQUEST_TIMEOUT: seconds(0.1, 890, '870'),
  KEEP_ALIVE_INTERVAL: seconds(0.05, 300, '15'),
  GUEST_LIMIT: integer(0, 1_000_000, '3'),
  GUEST_WINDOW: choice(['lifetime', 'daily'], 'lifetime'),
  MEMBER_LIMIT: integer(0, 1_000_000, '50'),
  BURST_LIMIT: integer(1, 10_000, '20'),
  IDENTITY_CACHE_SECONDS: seconds(0, 60, '30'),
  CORS_ORIGINS: list(
    '* or origins as browsers write them, separated by commas, such as https://app.example',
    // Another spelling, or a * within, would never match.
    { test: (item) => item === '*' || (/^https?:\/\/[^*]+$/.test(item) && URL.parse(item)?.origin === item) },
    '*',
  ),
  KEYS_TABLE: tableName,
  QUOTA_TABLE: tableName,
  NETWORK_SALT: text('at least 16 characters', /^.{16,}$/s),
  NETWORK_SALT_SECRET_ID: secretId,
  EDGE_HEADER: headerName,
  EDGE_SECRET_ID: secretId,
  METRICS_NAMESPACE: text('the namespace of CloudWatch metrics', /^[\w./#-]{1,200}$/, metricNamespace),
} as const satisfies Record<string, Setting<unknown>>;

export type SettingName = keyof typeof settings;

/** Splits a comma-separated list, without empty items. */
export function splitList(value: string): string[] {
  return value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

function within(pattern: RegExp, value: string, from: number, to: number): number | undefined {
  const number = pattern.test(value) ? Number(value) : Number.NaN;
  return number >= from && number <= to ? number : undefined;
}
