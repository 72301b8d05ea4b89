import {
  dialectNames,
  endpointPath,
  type OwnAddress,
  ownAddresses,
  type SpokenDialect,
  type TranslationTarget,
  translationTarget,
} from '../dialects/names.ts';
import { isObject, parseJson } from './json.ts';
import {
  byDefault,
  choice,
  duration,
  fitsHeader,
  flag,
  integer,
  list,
  required,
  splitList,
  text,
  urlWithout,
} from './kinds.ts';
import type { Setting } from './read-settings.ts';

/** Headers that depend on the connection or the body. */
const connectionHeader = /^(host|connection|content-length|transfer-encoding)$/;

/** Headers as a JSON object. Names become lower-case. */
export const headerMap: Setting<Readonly<Record<string, string>>> = {
  expects:
    'a JSON object of header names and values, without host, connection, content-length or transfer-encoding, such as {"x-team": "a"}',
  parse: (value) => {
    const headers = parseJson(value);
    if (!isObject(headers)) return undefined;
    const entries = Object.entries(headers).map(([name, text]) => [name.toLowerCase(), text] as const);
    const sendable = entries.every(
      ([name, text]) =>
        /^[\w!#$%&'*+.^`|~-]+$/.test(name) &&
        !connectionHeader.test(name) &&
        typeof text === 'string' &&
        fitsHeader(text),
    );
    return sendable ? (Object.fromEntries(entries) as Record<string, string>) : undefined;
  },
  schema: { type: 'object' },
};

const modelId = text('a model id without white space', /^[^\s"\\]{1,200}$/);
const keyList = list('keys separated by commas', /^[\x21-\x7e]+$/);

/** `RESPONSES_BASE_URL` and so on. */
export const forEachAddress = <Name extends string, S>(name: Name, setting: S) =>
  Object.fromEntries(ownAddresses.map((address) => [`${address}_${name}`, setting])) as Record<
    `${OwnAddress}_${Name}`,
    S
  >;

const upstreamUrl = urlWithout(
  endpointPath,
  "an http(s) URL with its version prefix and without an endpoint's path, query or user, such as https://host/api/v1",
);

export const spokenDialects: Setting<readonly SpokenDialect[]> = {
  expects: 'chat or messages, and any of the other dialects (chat, responses, messages), separated by commas',
  parse: (value) => {
    const names = splitList(value);
    const known = dialectNames.filter((name) => names.includes(name));
    return translationTarget(known) && known.length === names.length ? known : undefined;
  },
};

const reasoningLevels = list('levels separated by commas, such as low,medium,high', /^[a-z]{1,20}$/);

/** How requests are translated, by the dialect that they are translated to. */
export const settingsOfTarget = {
  chat: {
    OUTPUT_LIMIT_NAME: byDefault('max_tokens', choice(['max_tokens', 'max_completion_tokens'])),
    REASONING: byDefault(
      'none',
      choice(['none', 'reasoning_effort', 'thinking', 'enable_thinking', 'chat_template_kwargs']),
    ),
    REASONING_LEVELS: byDefault('low,medium,high', reasoningLevels),
    REASONING_REPLAY: byDefault('back', choice(['back', 'back-as-reasoning', 'never'])),
    TOOL_IMAGES: byDefault('after', choice(['after', 'inline', 'refuse'])),
    STREAM_OPTIONS: byDefault('send', choice(['send', 'omit'])),
    TOKENIZE_URL: urlWithout(
      /\/(v1|count_tokens)$/,
      "the http(s) URL of a tokenizer that speaks as vLLM's does, without query or user, such as https://host/tokenize",
    ),
  },
  messages: { CACHE_MARKS: byDefault('false', flag()) },
} as const satisfies Readonly<Record<TranslationTarget, Record<string, Setting<unknown>>>>;

/** How requests are translated for an upstream that doesn't speak their dialect. */
export const translationSettings = {
  OUTPUT_LIMIT: integer(1, 10_000_000),
  SYSTEM_TURNS: byDefault('fold', choice(['fold', 'keep'])),
  TRANSLATE_UNKNOWN: byDefault('leave-out', choice(['leave-out', 'refuse'])),
  ...settingsOfTarget.chat,
  ...settingsOfTarget.messages,
} as const satisfies Record<string, Setting<unknown>>;

/** The settings of an upstream, prefixed by `UPSTREAM_`, `UPSTREAM_2_` and so on. */
export const upstreamSettings = {
  BASE_URL: required(upstreamUrl),
  TEXT_MODEL: required(modelId),
  VISION_MODEL: modelId,
  ...forEachAddress('BASE_URL', upstreamUrl),
  ...forEachAddress('TEXT_MODEL', modelId),
  ...forEachAddress('VISION_MODEL', modelId),
  EMBEDDINGS_BASE_URL: upstreamUrl,
  EMBEDDINGS_MODEL: modelId,
  HEADERS: headerMap,
  AUTH: byDefault('key', choice(['key', 'aws'])),
  API_KEYS: keyList,
  FIRST_EVENT_TIMEOUT: duration(0.05, 300),
  SIGNS_THINKING: byDefault('false', flag()),
  DIALECTS: byDefault('chat,responses,messages', spokenDialects),
  ...translationSettings,
} as const satisfies Record<string, Setting<unknown>>;
