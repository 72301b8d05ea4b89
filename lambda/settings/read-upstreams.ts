import {
  addresses,
  countPaths,
  type DialectName,
  dialectNames,
  type SpokenDialect,
  translatesToChat,
  translationTarget,
} from '../dialects/names.ts';
import { bedrockDefaults, mixedModelFaults, modelIdFaults, tokenRegionOf } from './bedrock.ts';
import { type Environment, readSettings, type Values } from './read-settings.ts';
import { settingsOfTarget, translationSettings, upstreamSettings } from './upstream-definitions.ts';
import { readUpstreamName, upstreamPrefix } from './variable-names.ts';

export interface Upstream {
  /** The prefix of its settings: `UPSTREAM`, `UPSTREAM_2` … In the secret, its keys are under `PREFIX_API_KEYS`. */
  readonly prefix: string;
  /** Its base URL for each dialect. */
  readonly addresses: Readonly<Record<DialectName, string>>;
  /** Its own model ids for each dialect. */
  readonly models: Readonly<Record<DialectName, ModelIds>>;
  /** Extra headers for each request. */
  readonly headers: Readonly<Record<string, string>>;
  /** From the environment, for local use. A deployment reads keys from its secret. */
  readonly apiKeys: readonly string[];
  /** The region of Amazon Bedrock that the gateway makes tokens for. Undefined if the upstream takes API keys. */
  readonly tokenRegion: string | undefined;
  /** Settings that were left out and have a default at Bedrock, by name. */
  readonly defaults: Readonly<Record<string, string>>;
  /** Milliseconds to wait for a stream's first event before another key or upstream is asked. */
  readonly firstEventTimeout: number | undefined;
  /** Whether its reasoning is signed together with everything before it, and refused if replayed after anything else. */
  readonly signsThinking: boolean;
  /** The dialects that it speaks natively. */
  readonly dialects: readonly SpokenDialect[];
  /** How requests in other dialects are translated for it. */
  readonly translation: ReturnType<typeof translationOf>;
}

interface ModelIds {
  readonly text: string;
  readonly vision: string;
  /** Undefined if the upstream has no embeddings. */
  readonly embedding?: string | undefined;
}

/** The credentials for an upstream. */
export interface Access {
  /** From the environment, or else from the secret. */
  readonly keys: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  /** More headers, whose values must be hidden from everyone else. */
  readonly secretHeaders: Readonly<Record<string, string>>;
}

export type ReadAccess = (upstream: Upstream, refused?: string) => Promise<Access>;

/** `UPSTREAM_…` first, then `UPSTREAM_2_…`, `UPSTREAM_3_…` in the order of their numbers. */
export function readUpstreams(environment: Environment, asksForUsage: boolean, faults: string[]): Upstream[] {
  const upstreams = findPrefixes(environment).map((prefix) => readUpstream(prefix, environment, faults));
  for (const { prefix, translation } of upstreams) {
    if (!asksForUsage || translation.streamOptions !== 'omit') continue;
    faults.push(
      `UPSTREAM_STREAM_USAGE asks all streams for their usage, which ${prefix}_STREAM_OPTIONS says is refused: remove one of them`,
    );
  }
  return upstreams;
}

/** Ignores unknown names; `nameFaults` reports them. */
function findPrefixes(environment: Environment): string[] {
  const numbers = new Set([1]);
  for (const name of Object.keys(environment)) {
    const { number = 1, own = '' } = readUpstreamName(name) ?? {};
    if (environment[name]?.trim() && Object.hasOwn(upstreamSettings, own)) numbers.add(number);
  }
  return [...numbers].sort((a, b) => a - b).map(upstreamPrefix);
}

function readUpstream(prefix: string, given: Environment, faults: string[]): Upstream {
  const defaults = bedrockDefaults(prefix, given);
  const environment = { ...given, ...defaults };
  const read = readSettings(upstreamSettings, environment, faults, `${prefix}_`);
  faults.push(...needlessFaults(prefix, read, given), ...mixedModelFaults(prefix, given));
  faults.push(...modelIdFaults(prefix, Object.keys(upstreamSettings), given));
  if (read.EMBEDDINGS_BASE_URL !== undefined && read.EMBEDDINGS_MODEL === undefined) {
    faults.push(
      `${prefix}_EMBEDDINGS_BASE_URL needs ${prefix}_EMBEDDINGS_MODEL: without a model there are no embeddings`,
    );
  }
  if (read.DIALECTS !== undefined && !translatesToChat(read.DIALECTS)) {
    if (!environment[`${prefix}_OUTPUT_LIMIT`]?.trim()) {
      faults.push(
        `${prefix}_OUTPUT_LIMIT must be set: requests of messages have a limit, and clients of other dialects may have none`,
      );
    }
  }
  const values: Readonly<Record<string, unknown>> = read;
  /** A dialect's own setting, such as `MESSAGES_BASE_URL`, overrides the general one. */
  const own = (address: DialectName, name: 'BASE_URL' | 'TEXT_MODEL' | 'VISION_MODEL') =>
    (values[`${address.toUpperCase()}_${name}`] ?? read[name]) as string | undefined;
  // A value that is missing is a fault, and then none is used.
  const urls = forEach((address) => own(address, 'BASE_URL') ?? '');
  const target = translationTarget(read.DIALECTS ?? []);
  const countPath = target && countPaths[target];
  const countUrl = target && countPath ? urls[target] + countPath : read.TOKENIZE_URL;
  return {
    prefix,
    addresses: urls,
    models: forEach((address) => {
      const text = own(address, 'TEXT_MODEL') ?? '';
      return { text, vision: own(address, 'VISION_MODEL') ?? text, embedding: read.EMBEDDINGS_MODEL };
    }),
    headers: read.HEADERS ?? {},
    apiKeys: read.API_KEYS ?? [],
    tokenRegion: tokenRegionOf(prefix, Object.values(urls), given, faults),
    defaults,
    firstEventTimeout: read.FIRST_EVENT_TIMEOUT,
    signsThinking: read.SIGNS_THINKING,
    dialects: read.DIALECTS,
    translation: translationOf(read, countUrl),
  };
}

const forEach = <T>(part: (address: DialectName) => T) =>
  Object.fromEntries(addresses.map((address) => [address, part(address)])) as Record<DialectName, T>;

/** Whether any upstream needs a stored API key. */
export const takesKeys = (upstreams: readonly Upstream[]): boolean =>
  upstreams.some(({ tokenRegion }) => tokenRegion === undefined);

/** Whether any upstream has an embedding model. */
export const offersEmbeddings = (upstreams: readonly Upstream[]): boolean =>
  upstreams.some(({ models }) => models.embeddings.embedding !== undefined);

/** The settings for translated requests. */
function translationOf(read: Values<typeof translationSettings>, countUrl: string | undefined) {
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
    cacheMarks: read.CACHE_MARKS,
    /** Where to count the tokens of a request. */
    countUrl,
  };
}

/** Reports settings that have no effect with the upstream's DIALECTS. */
function needlessFaults(prefix: string, read: Values<typeof upstreamSettings>, environment: Environment): string[] {
  const values: Readonly<Record<string, unknown>> = read;
  const dialects: readonly SpokenDialect[] | undefined = read.DIALECTS;
  if (dialects === undefined) return []; // already reported, as is any value that could not be read
  const target = translationTarget(dialects);
  const missing = dialectNames.filter((name) => !dialects.includes(name));
  return Object.keys(upstreamSettings).flatMap((name) => {
    if (!environment[`${prefix}_${name}`]?.trim() || values[name] === undefined) return [];
    if (missing.some((dialect) => name.startsWith(`${dialect.toUpperCase()}_`)))
      return `${prefix}_${name} is for a dialect that ${prefix}_DIALECTS leaves out: remove one of them`;
    if (!Object.hasOwn(translationSettings, name)) return [];
    if (missing.length === 0)
      return `${prefix}_${name} is for translation, but ${prefix}_DIALECTS names every dialect: remove it`;
    const [other] = Object.entries(settingsOfTarget).find(([, settings]) => Object.hasOwn(settings, name)) ?? [];
    if (other === undefined || other === target) return [];
    return `${prefix}_${name} is for translation to ${other}, but with ${prefix}_DIALECTS requests are translated to ${target}: remove it`;
  });
}
