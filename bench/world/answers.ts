import { speakers } from '../../local/upstream/index.ts';
import { asObject, asObjects, type JsonObject } from '../../local/upstream/json.ts';
import { eventText } from '../../local/upstream/script.ts';
import type { Reply } from '../../local/upstream/speaker.ts';
import { tokens, tokensWithNames, upstreamModel } from './conversation.ts';

/** Events of a chat as many servers send them, without names and with them, of the responses dialect, and as three servers send theirs. */
export type Shape = 'chat' | 'named' | 'responses' | 'openAiChat' | 'openAiResponses' | 'vllmChat';

/** How the upstream answers the next requests. */
export type Script =
  | { readonly kind: 'whole' }
  /** Events, each in its own write and packet; with a pause before each, or without. */
  | {
      readonly kind: 'events';
      readonly count: number;
      readonly pause: number;
      readonly shape?: Shape;
    }
  /** Endless events with a pause before each. Their text is the time of sending. */
  | { readonly kind: 'clocked'; readonly pause: number }
  /** Events as fast as the connection takes them, up to this many bytes. */
  | { readonly kind: 'bulk'; readonly bytes: number };

/** What the upstream says, for a speaker of its dialect. */
const replyWith = (pieces: readonly string[]): Reply => ({
  answer: { parts: [{ kind: 'text', pieces }], end: 'stop', usage: { input: 24, output: pieces.length, reasoning: 0 } },
  body: { stream_options: { include_usage: true } },
  ...{ model: upstreamModel, id: 'C4qkZ1hT9xw2', created: 1795220000 },
  marks: { system_fingerprint: 'fp_44709d6fcb' },
});

export const wholeAnswer = Buffer.from(JSON.stringify(speakers.chat.whole(replyWith(tokens.slice(0, 212)))));

/** What a stream begins with, its events, and what it ends with. */
export interface Events {
  readonly first: string;
  readonly texts: readonly string[];
  readonly last: string;
}

/** Random padding of changing length, so that nobody guesses a text by the size of its event. */
const padding = (text: string, at: number): string =>
  Buffer.from(`${text}${at * 7919}${text}`.repeat(3))
    .toString('base64url')
    .slice(0, 16 - (text.length % 16));

/** What a server adds to each choice and each chunk of a text. */
type Extras = (text: string, at: number) => { readonly choice: JsonObject; readonly chunk: JsonObject };
const none: Extras = () => ({ choice: {}, chunk: {} });
const openAi: Extras = (text, at) => ({
  choice: { logprobs: null },
  chunk: { service_tier: 'default', usage: null, obfuscation: padding(text, at) },
});
const vllm: Extras = (_text, at) => ({
  choice: { logprobs: null, token_ids: null },
  chunk: { usage: { prompt_tokens: 24, total_tokens: 25 + at, completion_tokens: 1 + at } },
});

/** A stream of so many texts in this shape. A chat's events are alike, so that a few serve for all. */
export function eventsOf(shape: Shape, count: number): Events {
  const texts = Array.from({ length: count }, (_, index) => tokens[index % tokens.length] ?? '');
  switch (shape) {
    case 'openAiChat':
      return chatEvents(texts, openAi);
    case 'vllmChat':
      return chatEvents(texts, vllm);
    case 'responses':
    case 'openAiResponses':
      return responsesEvents(texts, shape === 'openAiResponses');
    default:
      return chatEvents(shape === 'named' ? tokensWithNames : tokens);
  }
}

function chatEvents(texts: readonly string[], extras = none): Events {
  const [role, ...rest] = speakers.chat.events(replyWith(texts)).map(({ data }) => data);
  const chunks = rest.slice(0, texts.length).map((data, at) => {
    const { choice, chunk } = extras(texts[at] ?? '', at);
    const choices = asObjects(asObject(data).choices).map((one) => ({ ...one, ...choice }));
    return eventText({ data: { ...asObject(data), choices, ...chunk } });
  });
  const last = rest.slice(texts.length).map((data) => eventText({ data }));
  return { first: eventText({ data: role }), texts: chunks, last: last.join('') };
}

/** Each event of the responses dialect has a number. Those that repeat the whole text are left out. */
function responsesEvents(texts: readonly string[], isFilled: boolean): Events {
  const events = speakers.responses.events(replyWith(texts));
  const start = events.findIndex(({ event }) => event === 'response.output_text.delta');
  const deltas = events.slice(start, start + texts.length).map(({ event, data }, at) => {
    const more = isFilled && { obfuscation: padding(texts[at] ?? '', at) };
    return eventText({ ...(event && { event }), data: { ...asObject(data), ...more } });
  });
  const { response, ...completed } = asObject(events.at(-1)?.data);
  const end = { sequence_number: start + texts.length, response: { ...asObject(response), output: [] } };
  return {
    first: events.slice(0, start).map(eventText).join(''),
    texts: deltas,
    last: eventText({ event: 'response.completed', data: { ...completed, ...end } }),
  };
}

/** One event per token. */
export const { first: opening, texts: events, last: closing } = chatEvents(tokens);

const clocked = chatEvents([' @TIME']).texts.join('');

/** An event whose text is a time. */
export const clockedEvent = (time: number): string => clocked.replace('TIME', time.toFixed(3));

/** A piece of a body already in HTTP's chunked coding, so that sending it costs the upstream next to nothing. */
export function chunk(text: string): Buffer {
  const size = Buffer.byteLength(text).toString(16);
  return Buffer.from(`${size}\r\n${text}\r\n`);
}
