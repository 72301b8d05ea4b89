import { type Environment, readSettings, type Values } from './read.ts';
import { type Address, dialectNames, ownAddresses, translationSettings, upstreamSettings } from './table.ts';

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
  readonly translation: ReturnType<typeof translationOf>;
}

/** The keys and headers that an upstream asks for. */
export interface Access {
  /** Those of the environment, else those of the secret. */
  readonly keys: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  /** More headers, which are shown to nobody else. */
  readonly secretHeaders: Readonly<Record<string, string>>;
}

/** What is said of all upstreams together. */
interface AllUpstreams {
  readonly upstreamSignsThinking: boolean;
  readonly upstreamStreamUsage: boolean;
}

/** `UPSTREAM_…` first, then `UPSTREAM_2_…`, `UPSTREAM_3_…` in the order of their numbers. */
export function readUpstreams(environment: Environment, all: AllUpstreams, faults: string[]): Upstream[] {
  const upstreams = findPrefixes(environment, faults).map((prefix) => readUpstream(prefix, environment, faults));
  // Dialects that could not be read are reported by their own check.
  const speakMessages = upstreams.some(({ dialects }) => dialects === undefined || dialects.includes(messages));
  if (all.upstreamSignsThinking && !speakMessages) {
    faults.push(
      'UPSTREAM_SIGNS_THINKING is for upstreams that speak messages, but UPSTREAM_DIALECTS leaves that out everywhere: remove it',
    );
  }
  for (const { prefix, translation } of upstreams) {
    if (!all.upstreamStreamUsage || translation.streamOptions !== 'omit') continue;
    faults.push(
      `UPSTREAM_STREAM_USAGE asks all streams for their usage, which ${prefix}_STREAM_OPTIONS says is refused: remove one of them`,
    );
  }
  return upstreams;
}

function findPrefixes(environment: Environment, faults: string[]): string[] {
  const numbers = new Set<number>();
  for (const name of Object.keys(environment)) {
    const [, number, own = ''] = /^UPSTREAM_(\d+)_(\w+)$/.exec(name) ?? [];
    if (number === undefined || !environment[name]?.trim()) continue;
    if (Object.hasOwn(upstreamSettings, own) && Number(number) > 1) numbers.add(Number(number));
    else faults.push(`${name} is not a known setting`);
  }
  return ['UPSTREAM', ...[...numbers].sort((a, b) => a - b).map((number) => `UPSTREAM_${number}`)];
}

function readUpstream(prefix: string, environment: Environment, faults: string[]): Upstream {
  const read = readSettings(upstreamSettings, environment, faults, `${prefix}_`);
  faults.push(...translationFaults(prefix, read, environment));
  const values: Readonly<Record<string, unknown>> = read;
  /** The one of an address of its own, such as `MESSAGES_BASE_URL`, before the plain one. */
  const own = (address: Address, name: 'BASE_URL' | 'TEXT_MODEL' | 'VISION_MODEL') =>
    (values[`${address.toUpperCase()}_${name}`] ?? read[name]) as string;
  const forEach = <T>(part: (address: Address) => T) =>
    Object.fromEntries(dialectNames.map((address) => [address, part(address)])) as Record<Address, T>;
  return {
    prefix,
    addresses: forEach((address) => own(address, 'BASE_URL')),
    models: forEach((address) => ({ text: own(address, 'TEXT_MODEL'), vision: own(address, 'VISION_MODEL') })),
    headers: read.HEADERS ?? {},
    apiKeys: read.API_KEYS ?? [],
    dialects: read.DIALECTS,
    translation: translationOf(read),
  };
}

/** What an operator says of an upstream that requests are translated for. */
function translationOf(read: Values<typeof translationSettings>) {
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
    /** Where the tokens of a request are counted. */
    tokenizeUrl: read.TOKENIZE_URL,
  };
}

const lower = <Name extends string>(name: Name) => name.toLowerCase() as Lowercase<Name>;

/** The dialect that has signatures, and an endpoint that counts tokens. */
const messages = lower(ownAddresses[1]);

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
  const faults = [
    ...needless.map((name) => `${name} is for a dialect that ${prefix}_DIALECTS leaves out: remove one of them`),
    ...untranslated.map((name) => `${name} is for translation, but ${prefix}_DIALECTS names every dialect: remove it`),
  ];
  if (countsItself) {
    faults.push(
      `TOKENIZE_URL counts for clients of messages, whom ${prefix}_DIALECTS sends upstream as they are: remove it`,
    );
  }
  if (withoutLevels) faults.push(`REASONING_LEVELS needs ${prefix}_REASONING=reasoning_effort`);
  return faults.map((fault) => `${prefix}_${fault}`);
}
