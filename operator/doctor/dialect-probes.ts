import { z } from 'zod';
import { chat } from '../../lambda/dialects/chat/chat.ts';
import type { Dialect } from '../../lambda/dialects/dialect.ts';
import { messages } from '../../lambda/dialects/messages/messages.ts';
import type { SpokenDialect } from '../../lambda/dialects/names.ts';
import { responses } from '../../lambda/dialects/responses/responses.ts';
import { parseJson } from '../../lambda/settings/json.ts';
import type { SseEvent } from '../../lambda/stream/sse.ts';
import { bearer } from './probe.ts';

/** How the doctor sends requests in one dialect and reads the answers. */
export interface DialectProbe {
  readonly name: SpokenDialect;
  readonly path: string;
  /** Each dialect sends the key in a different header. */
  keyHeaders(key: string): Record<string, string>;
  question(model: string, question: Question): Readonly<Record<string, unknown>>;
  readonly streaming: Readonly<Record<string, unknown>>;
  answer(model: string): z.ZodType;
  readonly tool: Readonly<Record<string, unknown>>;
  readonly call: z.ZodType;
  /** Whether an event carries generated text. Only these arrive at the model's pace. */
  isText(event: SseEvent): boolean;
  isEnd(event: SseEvent): boolean;
}

interface Question {
  readonly prompt: string;
  readonly tokens: number;
}

/** Prompts the model to reveal names that must be hidden. */
export const whoAreYou: Question = {
  prompt: 'Who are you, and who made you? Name the model and the company, in one sentence.',
  tokens: 512,
};

const clock = {
  name: 'get_time',
  description: 'Tells the time in a city.',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};

export const useTool: Question = { prompt: `What time is it in Paris? Call the tool ${clock.name}.`, tokens: 512 };

/** Makes for many events, at least one per word, without any need for reasoning. */
export const countUp: Question = {
  prompt: 'Write the numbers from 1 to 100 as words, separated by commas, and nothing else.',
  tokens: 1200,
};

const { object, literal, string, array } = z;
const someOf = (element: z.ZodType) =>
  array(z.unknown()).refine((all) => all.some((one) => element.safeParse(one).success));

const [name, city] = [literal(clock.name), object({ city: string() })];
const written = string().transform(parseJson).pipe(city);

const typeOf = ({ data }: SseEvent): string => object({ type: string() }).safeParse(parseJson(data)).data?.type ?? '';

const text = string().min(1);
const delta = z.union([object({ content: text }), object({ reasoning_content: text }), object({ reasoning: text })]);
const chatText = object({ choices: z.tuple([object({ delta })]) });

/** The endpoint of a dialect's conversations. */
const pathOf = ({ endpoints: [first] }: Dialect) => first?.path ?? '';

export const chatProbe: DialectProbe = {
  name: 'chat',
  path: pathOf(chat),
  keyHeaders: bearer,
  question: (model, { prompt }) => ({ model, messages: [{ role: 'user', content: prompt }] }),
  streaming: { stream: true, stream_options: { include_usage: true } },
  answer: (model) =>
    object({
      id: string(),
      object: literal('chat.completion'),
      model: literal(model),
      choices: array(object({ message: object({ role: literal('assistant') }) })).min(1),
    }),
  tool: { type: 'function', function: clock },
  call: object({
    choices: z.tuple([
      object({ message: object({ tool_calls: someOf(object({ function: object({ name, arguments: written }) })) }) }),
    ]),
  }),
  isText: ({ data }) => chatText.safeParse(parseJson(data)).success,
  isEnd: ({ data }) => data === '[DONE]',
};

const responsesProbe: DialectProbe = {
  name: 'responses',
  path: pathOf(responses),
  keyHeaders: (key) => ({ 'api-key': key }),
  question: (model, { prompt }) => ({ model, input: prompt }),
  streaming: { stream: true },
  answer: (model) =>
    object({
      id: string(),
      object: literal('response'),
      status: z.enum(['completed', 'incomplete']),
      model: literal(model),
      output: array(object({ type: string() })).min(1),
    }),
  tool: { type: 'function', strict: false, ...clock },
  call: object({ output: someOf(object({ type: literal('function_call'), name, arguments: written })) }),
  isText: (event) => typeOf(event).endsWith('.delta'),
  isEnd: (event) => typeOf(event) === 'response.completed' || typeOf(event) === 'response.incomplete',
};

export const messagesProbe: DialectProbe = {
  name: 'messages',
  path: pathOf(messages),
  keyHeaders: (key) => ({ 'x-api-key': key, 'anthropic-version': '2023-06-01' }),
  question: (model, { prompt, tokens }) => ({
    model,
    max_tokens: tokens,
    messages: [{ role: 'user', content: prompt }],
  }),
  streaming: { stream: true },
  answer: (model) =>
    object({
      id: string(),
      type: literal('message'),
      role: literal('assistant'),
      model: literal(model),
      stop_reason: string(),
      content: array(object({ type: string() })),
    }),
  tool: { name: clock.name, description: clock.description, input_schema: clock.parameters },
  call: object({ content: someOf(object({ type: literal('tool_use'), name, input: city })) }),
  isText: (event) => typeOf(event) === 'content_block_delta',
  isEnd: (event) => typeOf(event) === 'message_stop',
};

export const dialectProbes: readonly DialectProbe[] = [chatProbe, responsesProbe, messagesProbe];

export const countTokensPath = `${messagesProbe.path}/count_tokens`;

/** A PNG in base64, large enough for models that refuse tiny images. */
export const redSquare =
  'iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAIAAAAlC+aJAAAAT0lEQVR42u3PQQkAAAgEsIty/dMYyQi+hcEKLNO+FgEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQGBywI6LQEAwyG+sAAAAABJRU5ErkJggg==';
