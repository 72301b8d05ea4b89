/** How to read one setting: text in, value out; undefined if the text is not allowed. */
export interface Setting<T> {
  /** The allowed values, for error messages and docs. */
  readonly expects: string;
  readonly parse: (text: string) => T | undefined;
  /** The text to use if the variable is unset; without one the setting may be absent. */
  readonly fallback?: string;
  /** Whether it must be set, having no fallback. */
  readonly required?: true;
  /** Whether its text is a JSON object, which a JSON file of settings may hold as it is. */
  readonly isJson?: true;
}

/** The value of a setting after it has been read. */
type Value<S> =
  S extends Setting<infer T> ? (S extends { fallback: string } | { required: true } ? T : T | undefined) : never;

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

/** Reads with a list for faults, and throws all of them together. */
export function collectFaults<T>(read: (faults: string[]) => T): Readonly<T> {
  const faults: string[] = [];
  const values = read(faults);
  if (faults.length > 0) throw new ConfigError(faults);
  return Object.freeze(values);
}

/** Reads two sets of settings, so that the faults of both are reported together. */
export function readBoth<A, B>(readFirst: () => A, readSecond: () => B): [A, B] {
  const faults: string[] = [];
  const values = [readFirst, readSecond].map((read) => {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      faults.push(...error.faults);
      return undefined;
    }
  });
  if (faults.length > 0) throw new ConfigError(faults);
  return values as [A, B];
}

type Table = Readonly<Record<string, Setting<unknown>>>;

export type Values<T extends Table> = { readonly [N in keyof T]: Value<T[N]> };

/** Reads a table of settings, each from the variable of its name with `prefix` before it. */
export function readSettings<T extends Table>(table: T, environment: Environment, faults: string[], prefix = '') {
  const entries = Object.entries(table).map(([name, setting]) => [
    name,
    readSetting(prefix + name, setting, environment, faults),
  ]);
  // A required value that is missing or wrong is a fault, and after a fault the values are not used.
  return Object.fromEntries(entries) as Values<T>;
}

function readSetting(name: string, setting: Setting<unknown>, environment: Environment, faults: string[]): unknown {
  const text = environment[name]?.trim() || setting.fallback;
  if (text === undefined) {
    if (setting.required) faults.push(`${name} is missing: ${setting.expects}`);
    return undefined;
  }
  const value = setting.parse(text);
  if (value === undefined) faults.push(`${name} must be ${setting.expects}`);
  return value;
}

/** What a table reads as, under the names that code has: `BURST_LIMIT` as `burstLimit`. */
export type Named<T extends Table> = { readonly [N in keyof T as Camel<N>]: Value<T[N]> };

type Camel<Name> = Name extends `${infer Head}_${infer Tail}`
  ? `${Lowercase<Head>}${Capitalize<Camel<Tail>>}`
  : Name extends string
    ? Lowercase<Name>
    : never;

/** `readSettings`, under the names that code has. */
export function readNamed<T extends Table>(table: T, environment: Environment, faults: string[]): Named<T> {
  const camel = (name: string) => name.toLowerCase().replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  const values = Object.entries(readSettings(table, environment, faults));
  return Object.fromEntries(values.map(([name, value]) => [camel(name), value])) as Named<T>;
}

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

/** A URL to which the gateway appends this ending, so it must not have it already. */
export const urlWithout = (ending: RegExp, expects: string): Setting<string> => ({
  expects,
  parse: (value) => {
    const url = URL.parse(value);
    if (!url || !/^https?:$/.test(url.protocol) || url.search || url.hash || url.username || url.password) return;
    const text = url.href.replace(/\/+$/, '');
    return ending.test(text) ? undefined : text;
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

/** Undefined for what is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function within(pattern: RegExp, value: string, from: number, to: number): number | undefined {
  const number = pattern.test(value) ? Number(value) : Number.NaN;
  return number >= from && number <= to ? number : undefined;
}

/** Whether a header can carry a text. A line break, for one, would smuggle in another header. */
export function fitsHeader(text: string): boolean {
  return /^[\t\x20-\x7e]*$/.test(text);
}
