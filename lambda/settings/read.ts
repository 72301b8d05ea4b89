import type { Setting, Value } from './kinds.ts';

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

/** Reads a table of settings, each from the variable of its name with `prefix` before it. */
export function readSettings<T extends Table>(table: T, environment: Environment, faults: string[], prefix = '') {
  const entries = Object.entries(table).map(([name, setting]) => [
    name,
    readSetting(prefix + name, setting, environment, faults),
  ]);
  // A required value that is missing or wrong is a fault, and after a fault the values are not used.
  return Object.fromEntries(entries) as { readonly [N in keyof T]: Value<T[N]> };
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

/** `BURST_LIMIT` as code writes it: `burstLimit`. */
type Camel<Name> = Name extends `${infer Head}_${infer Tail}`
  ? `${Lowercase<Head>}${Capitalize<Camel<Tail>>}`
  : Name extends string
    ? Lowercase<Name>
    : never;

export type CamelNamed<Values> = { readonly [Name in keyof Values as Camel<Name>]: Values[Name] };

/** Values under their names in code. */
export function camelNamed<Values extends object>(values: Values): CamelNamed<Values> {
  const camel = (name: string) => name.toLowerCase().replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [camel(name), value])) as CamelNamed<Values>;
}
