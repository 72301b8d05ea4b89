import { z } from 'zod';
import type { SseEvent } from '../../lambda/stream/sse.ts';
import { parseJson } from './probe.ts';

/** How the doctor speaks one dialect. */
export interface DialectProbe {
  readonly name: string;
  readonly path: string;
  /** Each dialect shows its key in another of the three headers. */
  keyHeaders(key: string): Record<string, string>;
  question(model: string): Readonly<Record<string, unknown>>;
  /** What an answer has to look like. */
  answer(model: string): z.ZodType;
  isEnd(event: SseEvent): boolean;
}

// Long enough that its parts come at different times, and short enough to cost next to nothing.
const prompt = 'Write the numbers from one to forty as words, separated by commas, and nothing else.';
const messages = [{ role: 'user', content: prompt }];

const typeOf = ({ data }: SseEvent): unknown => {
  const value = parseJson(data);
  return typeof value === 'object' && value !== null && 'type' in value ? value.type : undefined;
};

export const chatProbe: DialectProbe = {
  name: 'chat',
  path: '/v1/chat/completions',
  keyHeaders: (key) => ({ authorization: `Bearer ${key}` }),
  question: (model) => ({ model, messages }),
  answer: (model) =>
    z.object({
      id: z.string(),
      object: z.literal('chat.completion'),
      model: z.literal(model),
      choices: z.array(z.object({ message: z.object({ role: z.literal('assistant') }) })).min(1),
    }),
  isEnd: ({ data }) => data === '[DONE]',
};

export const responsesProbe: DialectProbe = {
  name: 'responses',
  path: '/v1/responses',
  keyHeaders: (key) => ({ 'api-key': key }),
  question: (model) => ({ model, input: prompt }),
  answer: (model) =>
    z.object({
      id: z.string(),
      object: z.literal('response'),
      status: z.enum(['completed', 'incomplete']),
      model: z.literal(model),
      output: z.array(z.object({ type: z.string() })).min(1),
    }),
  isEnd: (event) => typeOf(event) === 'response.completed' || typeOf(event) === 'response.incomplete',
};

export const messagesProbe: DialectProbe = {
  name: 'messages',
  path: '/v1/messages',
  keyHeaders: (key) => ({ 'x-api-key': key, 'anthropic-version': '2023-06-01' }),
  question: (model) => ({ model, max_tokens: 512, messages }),
  answer: (model) =>
    z.object({
      id: z.string(),
      type: z.literal('message'),
      role: z.literal('assistant'),
      model: z.literal(model),
      content: z.array(z.object({ type: z.string() })),
      stop_reason: z.string(),
    }),
  isEnd: (event) => typeOf(event) === 'message_stop',
};

export const dialectProbes: readonly DialectProbe[] = [chatProbe, responsesProbe, messagesProbe];

/** Each dialect is asked for a plain answer and for a stream; nothing else is charged. */
export const cost = dialectProbes.length * 2;
