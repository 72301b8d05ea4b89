import type { Setting } from './read-settings.ts';

/* Setting types: how to parse and describe a value. */

export const byDefault = <S extends Setting<unknown>>(fallback: string, setting: S) => ({ ...setting, fallback });

export const required = <S extends Setting<unknown>>(setting: S) => ({ ...setting, required: true as const });

export const text = (expects: string, pattern: RegExp): Setting<string> => ({
  expects,
  parse: (value) => (pattern.test(value) ? value : undefined),
  schema: { pattern: pattern.source },
});

export const integer = (from: number, to: number): Setting<number> => ({
  expects: `a whole number from ${from} to ${to}`,
  parse: (value) => within(/^\d{1,9}$/, value, from, to),
  schema: { type: 'integer', minimum: from, maximum: to },
});

export const seconds = (from: number, to: number): Setting<number> => ({
  expects: `a number of seconds from ${from} to ${to}, fractions allowed`,
  parse: (value) => within(/^\d{1,6}(\.\d{1,6})?$/, value, from, to),
  schema: { type: 'number', minimum: from, maximum: to },
});

const times = (setting: Setting<number>, factor: number): Setting<number> => ({
  ...setting,
  parse: (value) => {
    const number = setting.parse(value);
    return number === undefined ? undefined : Math.round(number * factor);
  },
});

/** Seconds in, milliseconds out. */
export const duration = (from: number, to: number) => times(seconds(from, to), 1000);

/** Mebibytes in, bytes out. */
export const mebibytes = (from: number, to: number) => ({
  ...times(integer(from, to), 1_048_576),
  expects: `a whole number of MiB from ${from} to ${to}`,
});

export const choice = <const T extends string>(values: readonly T[]): Setting<T> => ({
  expects: [values.slice(0, -1).join(', '), values.at(-1)].join(' or '),
  parse: (value) => values.find((known) => known === value),
  schema: { enum: values },
});

export const flag = (): Setting<boolean> => ({
  expects: 'true or false',
  parse: (value) => (value === 'true' ? true : value === 'false' ? false : undefined),
  schema: { type: 'boolean' },
});

export const list = (expects: string, items: { test(item: string): boolean }): Setting<readonly string[]> => ({
  expects,
  parse: (value) => {
    const values = splitList(value);
    return values.every((item) => items.test(item)) ? values : undefined;
  },
});

/** A URL that must not end with what the gateway will append to it. */
export const urlWithout = (ending: RegExp, expects: string): Setting<string> => ({
  expects,
  parse: (value) => {
    const url = URL.parse(value);
    if (!url || !/^https?:$/.test(url.protocol) || url.search || url.hash || url.username || url.password) return;
    const text = url.href.replace(/\/+$/, '');
    return ending.test(text) ? undefined : text;
  },
});

/** An OIDC issuer. Plain http is allowed only for localhost. */
export const issuerUrl: Setting<string> = {
  expects:
    'an https URL as the provider writes its issuer, such as https://login.example.com (http only for this machine)',
  parse: (value) => {
    const url = URL.parse(value);
    const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname));
    return isSafe && !url.search && !url.hash && !url.username ? value : undefined;
  },
};

/** Whether the hostname of a URL is this machine. */
export function isLoopback(hostname: string): boolean {
  return /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}

/** Splits a comma-separated list, and drops empty items. */
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

/** Whether a text is safe as a header value. A line break, for one, would inject another header. */
export function fitsHeader(text: string): boolean {
  return /^[\t\x20-\x7e]*$/.test(text);
}
