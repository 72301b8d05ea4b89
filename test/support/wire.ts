import { messagesTypes } from '../../lambda/dialects/messages/messages.ts';
import { openAiTypes } from '../../lambda/dialects/model/openai.ts';
import { catalogue, type ErrorNature } from '../../lambda/errors.ts';
import { speakers } from '../../local/upstream/index.ts';
import { eventText } from '../../local/upstream/script.ts';
import type { DialectName } from './fixtures.ts';
import { replyOf } from './upstream-identity.ts';

/** Words that occur nowhere else. */
export const canary = {
  prompt: 'canary-of-the-prompt',
  answer: 'canary-of-the-answer',
  clientKey: 'canary-of-the-client-key',
  upstreamBody: 'canary-of-the-upstream-body',
} as const;

const messages = [{ role: 'user', content: canary.prompt }];

interface ErrorParts {
  readonly code: string;
  readonly type: string;
  readonly message: unknown;
}

interface Wire {
  readonly path: string;
  readonly question: Readonly<Record<string, unknown>>;
  /** A whole answer. */
  readonly answer: unknown;
  /** A stream, event by event; the last one ends it. */
  readonly events: readonly string[];
  /** An event with this text, for streams of any length. */
  textEvent(text: string): string;
  /** What the upstream sends if it fails in the middle of a stream. */
  readonly failureEvent: string;
  readonly keepAlive: RegExp;
  readonly errorTypes: Readonly<Record<string, string>>;
  error(parts: ErrorParts): unknown;
  /** The error event after this many events. */
  errorEvent(parts: ErrorParts, sequence: number): { readonly event?: string; readonly data: unknown };
}

/** By error code, from the dialect's types by nature. */
const typesOf = (types: Readonly<Record<ErrorNature, string>>) =>
  Object.fromEntries(Object.entries(catalogue).map(([code, { nature }]) => [code, types[nature]]));

const typed = (type: string, rest: object = {}) => eventText({ event: type, data: { type, ...rest } });
const openAiError = ({ code, type, message: text }: ErrorParts) => ({ message: text, type, code });

/** The upstream's answer to a question, plain and streamed. */
function told(dialect: DialectName): Pick<Wire, 'answer' | 'events' | 'textEvent'> {
  const { whole, events } = speakers[dialect];
  const reply = (text: string) => replyOf([{ kind: 'text', pieces: [text] }]);
  const stream = (text: string) => events(reply(text)).map(eventText);
  return {
    answer: whole(reply(canary.answer)),
    events: stream(canary.answer),
    textEvent: (text) => stream(text).find((event) => event.includes(JSON.stringify(text))) ?? '',
  };
}

/** The three dialects, as clients and upstreams speak them. */
export const wire: Readonly<Record<DialectName, Wire>> = {
  chat: {
    path: '/v1/chat/completions',
    question: { model: 'svc', messages },
    ...told('chat'),
    failureEvent: eventText({ data: { error: { code: 502, message: `AcmeCorp ${canary.upstreamBody}` } } }),
    keepAlive: /^: keep-alive\n\n/,
    errorTypes: typesOf(openAiTypes),
    error: (parts) => ({ error: openAiError(parts) }),
    errorEvent: (parts) => ({ data: { error: openAiError(parts) } }),
  },
  responses: {
    path: '/v1/responses',
    question: { model: 'svc', input: canary.prompt },
    ...told('responses'),
    failureEvent: typed('error', { sequence_number: 2, code: 'x', message: `AcmeCorp ${canary.upstreamBody}` }),
    keepAlive: /^: keep-alive\n\n/,
    errorTypes: typesOf(openAiTypes),
    error: (parts) => ({ error: openAiError(parts) }),
    errorEvent: (parts, sequence) => ({
      event: 'error',
      data: {
        type: 'error',
        sequence_number: sequence,
        code: parts.code,
        message: parts.message,
        param: null,
        error: openAiError(parts),
      },
    }),
  },
  messages: {
    path: '/v1/messages',
    question: { model: 'svc', max_tokens: 100, messages },
    ...told('messages'),
    failureEvent: typed('error', {
      error: { type: 'overloaded_error', message: `AcmeCorp ${canary.upstreamBody}` },
    }),
    keepAlive: /^event: ping\ndata: {"type":"ping"}\n\n/,
    errorTypes: typesOf(messagesTypes),
    error: ({ type, message: text }) => ({ type: 'error', error: { type, message: text } }),
    errorEvent: ({ type, message: text }) => ({
      event: 'error',
      data: { type: 'error', error: { type, message: text } },
    }),
  },
};
