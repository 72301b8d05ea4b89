/** How to read a setting. `parse` returns undefined for an invalid text. */
export interface Setting<T> {
  /** What is valid, for error messages and docs. */
  readonly expects: string;
  readonly parse: (text: string) => T | undefined;
  /** The default, as text. Without one, the setting is optional unless `required`. */
  readonly fallback?: string;
  readonly required?: true;
  /** The JSON Schema of its value in gateway.json. Any string is allowed where the schema says nothing. */
  readonly schema?: ValueSchema;
}

export interface ValueSchema {
  /** The JSON type that is allowed besides a string. */
  readonly type?: 'object' | 'boolean' | 'integer' | 'number';
  readonly minimum?: number;
  readonly maximum?: number;
  readonly enum?: readonly (string | number)[];
  /** For strings. */
  readonly pattern?: string;
}

/** The type of a setting's value. */
type Value<S> =
  S extends Setting<infer T> ? (S extends { fallback: string } | { required: true } ? T : T | undefined) : never;

export type Environment = Readonly<Record<string, string | undefined>>;

/** Thrown for invalid settings. Lists all faults, each with the variable and what it expects. */
export class ConfigError extends Error {
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(faults.join('\n'));
    this.name = 'ConfigError';
    this.faults = faults;
  }
}

/** Collects faults while reading, and throws all of them together. The result and its sections are frozen. */
export function collectFaults<T extends object>(read: (faults: string[]) => T): Readonly<T> {
  const faults: string[] = [];
  const values = read(faults);
  if (faults.length > 0) throw new ConfigError(faults);
  for (const section of Object.values(values)) Object.freeze(section);
  return Object.freeze(values);
}

/** Reads two sets of settings, and reports the faults of both together. */
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

export type Table = Readonly<Record<string, Setting<unknown>>>;

export type Values<T extends Table> = { readonly [N in keyof T]: Value<T[N]> };

/** Reads a table of settings, each from the environment variable `prefix` + its name. */
export function readSettings<T extends Table>(table: T, environment: Environment, faults: string[], prefix = '') {
  const entries = Object.entries(table).map(([name, setting]) => [
    name,
    readSetting(prefix + name, setting, environment, faults),
  ]);
  // The cast is safe: a missing or invalid required value is a fault, and with a fault the values are never used.
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

/** The values of a table, with names in camel case: `BURST_LIMIT` as `burstLimit`. */
export type Named<T extends Table> = { readonly [N in keyof T as Camel<N>]: Value<T[N]> };

type Camel<Name> = Name extends `${infer Head}_${infer Tail}`
  ? `${Lowercase<Head>}${Capitalize<Camel<Tail>>}`
  : Name extends string
    ? Lowercase<Name>
    : never;

/** `readSettings`, with names in camel case. */
export function readNamed<T extends Table>(table: T, environment: Environment, faults: string[]): Named<T> {
  const camel = (name: string) => name.toLowerCase().replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  const values = Object.entries(readSettings(table, environment, faults));
  return Object.fromEntries(values.map(([name, value]) => [camel(name), value])) as Named<T>;
}

/** The values of several tables, as sections of a config. */
export type Sections<T extends Readonly<Record<string, Table>>> = { readonly [S in keyof T]: Named<T[S]> };

/** `readNamed` for each section. */
export function readSections<T extends Readonly<Record<string, Table>>>(
  sections: T,
  environment: Environment,
  faults: string[],
): Sections<T> {
  const read = Object.entries(sections).map(([name, table]) => [name, readNamed(table, environment, faults)]);
  return Object.fromEntries(read) as Sections<T>;
}
