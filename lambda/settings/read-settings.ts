/** How to read one setting: text in, value out; undefined if the text is not allowed. */
export interface Setting<T> {
  /** The allowed values, for error messages and docs. */
  readonly expects: string;
  readonly parse: (text: string) => T | undefined;
  /** The text to use if the variable is unset; without one the setting may be absent. */
  readonly fallback?: string;
  /** Whether it must be set, having no fallback. */
  readonly required?: true;
  /** What a JSON file of settings may hold, in the words of JSON Schema; any text where this says nothing. */
  readonly schema?: ValueSchema;
}

export interface ValueSchema {
  /** What stands there as it is, beside its text. */
  readonly type?: 'object' | 'boolean' | 'integer' | 'number';
  readonly minimum?: number;
  readonly maximum?: number;
  readonly enum?: readonly (string | number)[];
  /** Of a text. */
  readonly pattern?: string;
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

/** Reads with a list for faults, and throws all of them together. What it gives is frozen, and so are its sections. */
export function collectFaults<T extends object>(read: (faults: string[]) => T): Readonly<T> {
  const faults: string[] = [];
  const values = read(faults);
  if (faults.length > 0) throw new ConfigError(faults);
  for (const section of Object.values(values)) Object.freeze(section);
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

export type Table = Readonly<Record<string, Setting<unknown>>>;

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

/** What tables read as that are the sections of a config. */
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
