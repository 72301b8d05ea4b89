import { speakers } from '../../local/upstream/index.ts';
import { asObject, asObjects, type JsonObject } from '../../local/upstream/json.ts';
import { eventText } from '../../local/upstream/script.ts';
import type { Reply } from '../../local/upstream/speaker.ts';
import { tokens, upstreamModel } from './conversation.ts';

/** How the upstream answers the next requests. */
export type Script =
  | { readonly kind: 'whole' }
  /** Events, each in its own write and packet. */
  | { readonly kind: 'events'; readonly count: number; readonly shape?: Shape }
  /** Endless events with a pause before each. Their text is the time of sending. */
  | { readonly kind: 'clocked'; readonly pause: number }
  /** Events as fast as the connection takes them, up to this many bytes. */
  | { readonly kind: 'bulk'; readonly bytes: number };

/** A chat's events as many servers send them, those of responses, and those of two makers. */
export type Shape = 'chat' | 'responses' | 'openAiChat' | 'openAiResponses' | 'vllmChat';

/** What the upstream says, for a speaker of its dialect. */
const replyWith = (pieces: readonly string[]): Reply => ({
  answer: { parts: [{ kind: 'text', pieces }], end: 'stop', usage: { input: 24, output: pieces.length, reasoning: 0 } },
  body: { stream_options: { include_usage: true } },
  ...{ model: upstreamModel, id: 'C4qkZ1hT9xw2', created: 1795220000 },
  marks: { system_fingerprint: 'fp_44709d6fcb' },
});

const tokensOf = (count: number) => Array.from({ length: count }, (_, index) => tokens[index % tokens.length] ?? '');

export const wholeAnswer = Buffer.from(JSON.stringify(speakers.chat.whole(replyWith(tokensOf(212)))));

/** Random padding of changing length, so that nobody guesses a text by the size of its event. */
const padding = (text: string, at: number): string =>
  Buffer.from(`${text}${at * 7919}${text}`.repeat(3))
    .toString('base64url')
    .slice(0, 16 - (text.length % 16));

/** What makers add to each event of a text: to the choice of a chat, and beside it. */
const extras: { readonly [Name in Shape]?: (text: string, at: number) => { choice?: JsonObject; beside: JsonObject } } =
  {
    openAiChat: (text, at) => ({
      choice: { logprobs: null },
      beside: { service_tier: 'default', usage: null, obfuscation: padding(text, at) },
    }),
    vllmChat: (_text, at) => ({
      choice: { logprobs: null, token_ids: null },
      beside: { usage: { prompt_tokens: 24, total_tokens: 25 + at, completion_tokens: 1 + at } },
    }),
    openAiResponses: (text, at) => ({ beside: { obfuscation: padding(text, at) } }),
  };

/** What a stream begins with, its events, and what it ends with. */
export interface Events {
  readonly first: string;
  readonly texts: readonly string[];
  readonly last: string;
}

/** The events of so many texts in this shape. */
export function eventsOf(shape: Shape, count: number): Events {
  const texts = tokensOf(count);
  const isChat = !/responses/i.test(shape);
  const events = speakers[isChat ? 'chat' : 'responses'].events(replyWith(texts));
  const start = isChat ? 1 : events.findIndex(({ event }) => event === 'response.output_text.delta');
  const middle = events.slice(start, start + texts.length).map(({ data, ...event }, at) => {
    const { choice, beside } = extras[shape]?.(texts[at] ?? '', at) ?? {};
    const choices = choice && { choices: asObjects(asObject(data).choices).map((one) => ({ ...one, ...choice })) };
    return eventText({ ...event, data: { ...asObject(data), ...choices, ...beside } });
  });
  const last = isChat ? events.slice(start + texts.length) : [withoutText(events.at(-1)?.data, start + texts.length)];
  return {
    first: events.slice(0, start).map(eventText).join(''),
    texts: middle,
    last: last.map(eventText).join(''),
  };
}

/** The end of a response, next after its texts: the events that repeat the whole text are left out. */
function withoutText(data: unknown, sequence_number: number) {
  const { response, ...completed } = asObject(data);
  return {
    event: 'response.completed',
    data: { ...completed, sequence_number, response: { ...asObject(response), output: [] } },
  };
}

const clocked = eventsOf('chat', 1).texts[0]?.replace(`"${tokens[0]}"`, '" @TIME"') ?? '';

/** An event whose text is a time. */
export const clockedEvent = (time: number): string => clocked.replace('TIME', time.toFixed(3));
