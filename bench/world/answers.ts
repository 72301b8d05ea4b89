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

const usage = { prompt_tokens: 24, completion_tokens: 212, total_tokens: 236 };

export const wholeAnswer = Buffer.from(
  JSON.stringify({
    id: 'chatcmpl-C4qkZ1hT9xw2',
    object: 'chat.completion',
    created: 1795220000,
    model: upstreamModel,
    system_fingerprint: 'fp_44709d6fcb',
    choices: [
      { index: 0, message: { role: 'assistant', content: tokens.slice(0, 212).join('') }, finish_reason: 'stop' },
    ],
    usage,
  }),
);

function event(choices: readonly unknown[], more: object = {}): string {
  const chunk = {
    id: 'chatcmpl-C4qkZ1hT9xw2',
    object: 'chat.completion.chunk',
    created: 1795220000,
    model: upstreamModel,
  };
  return `data: ${JSON.stringify({ ...chunk, system_fingerprint: 'fp_44709d6fcb', choices, ...more })}\n\n`;
}

const choice = (delta: object, finish_reason: string | null = null) => [{ index: 0, delta, finish_reason }];
const toEvents = (texts: readonly string[]) => texts.map((content) => event(choice({ content })));

/** One event per token. */
export const events = toEvents(tokens);
export const eventsWithNames = toEvents(tokensWithNames);

/** The events before and after a stream's text. */
export const opening = event(choice({ role: 'assistant', content: '' }));
export const closing = `${event(choice({}, 'stop'))}${event([], { usage })}data: [DONE]\n\n`;

/** What a stream begins with, its events, and what it ends with. */
export interface Events {
  readonly first: string;
  readonly texts: readonly string[];
  readonly last: string;
}

/** Random filling of changing length, so that nobody guesses a text by the size of its event. */
const filling = (text: string, at: number): string =>
  Buffer.from(`${text}${at * 7919}${text}`.repeat(3))
    .toString('base64url')
    .slice(0, 16 - (text.length % 16));

/** A stream of so many texts in this shape. */
export function eventsOf(shape: Shape, count: number): Events {
  const texts = Array.from({ length: count }, (_, index) => tokens[index % tokens.length] ?? '');
  switch (shape) {
    case 'openAiChat': {
      const chunks = texts.map((content, at) =>
        event([{ index: 0, delta: { content }, logprobs: null, finish_reason: null }], {
          ...{ service_tier: 'default', usage: null, obfuscation: filling(content, at) },
        }),
      );
      return { first: opening, texts: chunks, last: closing };
    }
    case 'vllmChat': {
      const chunks = texts.map((content, at) => {
        const counted = { prompt_tokens: 24, total_tokens: 25 + at, completion_tokens: 1 + at };
        return event([{ index: 0, delta: { content }, logprobs: null, finish_reason: null, token_ids: null }], {
          usage: counted,
        });
      });
      return { first: opening, texts: chunks, last: closing };
    }
    case 'responses':
    case 'openAiResponses':
      return responsesEvents(texts, shape === 'openAiResponses');
    default:
      return { first: opening, texts: shape === 'named' ? eventsWithNames : events, last: closing };
  }
}

/** Each event of the responses dialect has a number. */
function responsesEvents(texts: readonly string[], isFilled: boolean): Events {
  const response = { id: 'resp_C4qkZ1hT9xw2', object: 'response', created_at: 1795220000, model: upstreamModel };
  let number = 0;
  const numbered = (type: string, more: object) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: number++, ...more })}\n\n`;
  const place = { item_id: 'msg_68f0c2d1a7e4', output_index: 0, content_index: 0 };
  const first = numbered('response.created', { response: { ...response, status: 'in_progress', output: [] } });
  const deltas = texts.map((delta, at) => {
    const more = isFilled ? { obfuscation: filling(delta, at) } : {};
    return numbered('response.output_text.delta', { ...place, delta, logprobs: [], ...more });
  });
  const done = {
    ...response,
    status: 'completed',
    output: [],
    usage: { input_tokens: 24, output_tokens: texts.length },
  };
  return { first, texts: deltas, last: numbered('response.completed', { response: done }) };
}

/** An event whose text is a time. */
export const clockedEvent = (time: number): string => event(choice({ content: ` @${time.toFixed(3)}` }));

/** A piece of a body already in HTTP's chunked coding, so that sending it costs the upstream next to nothing. */
export function chunk(text: string): Buffer {
  const size = Buffer.byteLength(text).toString(16);
  return Buffer.from(`${size}\r\n${text}\r\n`);
}
