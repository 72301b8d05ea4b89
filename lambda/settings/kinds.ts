/** How to read one setting: text in, value out; undefined if the text is not allowed. */
export interface Setting<T> {
  /** The allowed values, for error messages and docs. */
  readonly expects: string;
  readonly parse: (text: string) => T | undefined;
  /** The text to use if the variable is unset; without one the setting may be absent. */
  readonly fallback?: string;
  /** Whether it must be set, having no fallback. */
  readonly required?: true;
}

/** The value of a setting after it has been read. */
export type Value<S> =
  S extends Setting<infer T> ? (S extends { fallback: string } | { required: true } ? T : T | undefined) : never;

export const byDefault = <S extends Setting<unknown>>(fallback: string, setting: S) => ({ ...setting, fallback });

export const required = <S extends Setting<unknown>>(setting: S) => ({ ...setting, required: true as const });

export const text = (expects: string, pattern: RegExp): Setting<string> => ({
  expects,
  parse: (value) => (pattern.test(value) ? value : undefined),
});

export const integer = (from: number, to: number): Setting<number> => ({
  expects: `a whole number from ${from} to ${to}`,
  parse: (value) => within(/^\d{1,9}$/, value, from, to),
});

export const seconds = (from: number, to: number): Setting<number> => ({
  expects: `a number of seconds from ${from} to ${to}, fractions allowed`,
  parse: (value) => within(/^\d{1,6}(\.\d{1,6})?$/, value, from, to),
});

/** Seconds in, milliseconds out. */
export const duration = (from: number, to: number): Setting<number> => {
  const inSeconds = seconds(from, to);
  return {
    ...inSeconds,
    parse: (value) => {
      const number = inSeconds.parse(value);
      return number === undefined ? undefined : Math.round(number * 1000);
    },
  };
};

/** Mebibytes in, bytes out. */
export const mebibytes = (from: number, to: number): Setting<number> => ({
  expects: `a whole number of MiB from ${from} to ${to}`,
  parse: (value) => {
    const number = integer(from, to).parse(value);
    return number === undefined ? undefined : number * 1_048_576;
  },
});

export const choice = <const T extends string>(values: readonly T[]): Setting<T> => ({
  expects: [values.slice(0, -1).join(', '), values.at(-1)].join(' or '),
  parse: (value) => values.find((known) => known === value),
});

export const flag = (): Setting<boolean> => ({
  expects: 'true or false',
  parse: (value) => (value === 'true' ? true : value === 'false' ? false : undefined),
});

export const list = (expects: string, items: { test(item: string): boolean }): Setting<readonly string[]> => ({
  expects,
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

/** A URL to which the gateway appends this ending, so it must not have it already. */
export const urlWithout = (ending: RegExp, expects: string): Setting<string> => ({
  expects,
  parse: (value) => {
    const url = baseUrl.parse(value);
    return url !== undefined && ending.test(url) ? undefined : url;
  },
});

/** An address of the company's sign-in, which only this machine may speak to without TLS. */
export const issuerUrl: Setting<string> = {
  expects:
    'an https URL as the provider writes its issuer, such as https://login.example.com (http only for this machine)',
  parse: (value) => {
    const url = URL.parse(value);
    const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname));
    return isSafe && !url.search && !url.hash && !url.username ? value : undefined;
  },
};

/** Whether a host of a URL is this machine. */
export function isLoopback(hostname: string): boolean {
  return /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}

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

/** Whether a header can carry a text. A line break, for one, would smuggle in another header. */
export function fitsHeader(text: string): boolean {
  return /^[\t\x20-\x7e]*$/.test(text);
}
