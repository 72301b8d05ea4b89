import { tokens, tokensWithNames, upstreamModel } from './conversation.ts';

/** How the upstream answers the next requests. */
export type Script =
  | { readonly kind: 'whole' }
  /** Events, each in its own write and packet; with a pause before each, or without. */
  | {
      readonly kind: 'events';
      readonly count: number;
      readonly pause: number;
      readonly named?: boolean;
      readonly responses?: boolean;
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

/** One event per token, without names and with them. */
export const events = toEvents(tokens);
export const eventsWithNames = toEvents(tokensWithNames);

/** The events before and after a stream's text. */
export const opening = event(choice({ role: 'assistant', content: '' }));
export const closing = `${event(choice({}, 'stop'))}${event([], { usage })}data: [DONE]\n\n`;

/** The same in the responses dialect, where each event has a number. */
export function responsesEvents(count: number): { first: string; texts: string[]; last: string } {
  const response = { id: 'resp_C4qkZ1hT9xw2', object: 'response', created_at: 1795220000, model: upstreamModel };
  let number = 0;
  const numbered = (type: string, more: object) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: number++, ...more })}\n\n`;
  const place = { item_id: 'msg_68f0c2d1a7e4', output_index: 0, content_index: 0 };
  const first = numbered('response.created', { response: { ...response, status: 'in_progress', output: [] } });
  const texts = Array.from({ length: count }, (_, index) =>
    numbered('response.output_text.delta', { ...place, delta: tokens[index % tokens.length], logprobs: [] }),
  );
  const done = { ...response, status: 'completed', output: [], usage: { input_tokens: 24, output_tokens: count } };
  return { first, texts, last: numbered('response.completed', { response: done }) };
}

/** An event whose text is a time. */
export const clockedEvent = (time: number): string => event(choice({ content: ` @${time.toFixed(3)}` }));

/** A piece of a body already in HTTP's chunked coding, so that sending it costs the upstream next to nothing. */
export function chunk(text: string): Buffer {
  const size = Buffer.byteLength(text).toString(16);
  return Buffer.from(`${size}\r\n${text}\r\n`);
}
