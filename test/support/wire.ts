import type { DialectName } from './fixtures.ts';
import { eventText } from './upstream-script.ts';

/** Words that occur nowhere else. */
export const canary = {
  prompt: 'canary-of-the-prompt',
  answer: 'canary-of-the-answer',
  clientKey: 'canary-of-the-client-key',
  upstreamBody: 'canary-of-the-upstream-body',
} as const;

const model = 'acmecorp/thunder-70b-instruct';
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
  /** What the upstream sends when it fails in the middle of a stream. */
  readonly failureEvent: string;
  readonly keepAlive: RegExp;
  readonly errorTypes: Readonly<Record<string, string>>;
  error(parts: ErrorParts): unknown;
  /** The error event after this many events. */
  errorEvent(parts: ErrorParts, sequence: number): { readonly event?: string; readonly data: unknown };
}

const openAiTypes = {
  invalid_request: 'invalid_request_error',
  request_too_large: 'invalid_request_error',
  upstream_error: 'server_error',
  upstream_timeout: 'server_error',
  service_unavailable: 'server_error',
  internal_error: 'server_error',
};
const messagesTypes = {
  invalid_request: 'invalid_request_error',
  request_too_large: 'request_too_large',
  upstream_error: 'api_error',
  upstream_timeout: 'timeout_error',
  service_unavailable: 'overloaded_error',
  internal_error: 'api_error',
};

const chunk = (delta: unknown, finish: string | null = null) =>
  eventText({
    data: {
      id: 'chatcmpl-1',
      object: 'chat.completion.chunk',
      created: 1,
      model,
      choices: [{ index: 0, delta, finish_reason: finish }],
    },
  });

const numbered = (type: string, sequence: number, rest: object) =>
  eventText({ event: type, data: { type, sequence_number: sequence, ...rest } });
const response = { id: 'resp_1', object: 'response', model, output: [] };
const delta = { item_id: 'item_1', output_index: 0, content_index: 0, delta: canary.answer };

const typed = (type: string, rest: object = {}) => eventText({ event: type, data: { type, ...rest } });
const message = { id: 'msg_1', type: 'message', role: 'assistant', model, content: [], stop_reason: null };
const openAiError = ({ code, type, message: text }: ErrorParts) => ({ message: text, type, code });

/** The three dialects, as clients and upstreams speak them. */
export const wire: Readonly<Record<DialectName, Wire>> = {
  chat: {
    path: '/v1/chat/completions',
    question: { model: 'svc', messages },
    answer: {
      id: 'chatcmpl-1',
      model,
      choices: [{ index: 0, message: { role: 'assistant', content: canary.answer } }],
    },
    events: [
      chunk({ role: 'assistant', content: '' }),
      chunk({ content: canary.answer }),
      chunk({}, 'stop'),
      'data: [DONE]\n\n',
    ],
    textEvent: (text) => chunk({ content: text }),
    failureEvent: eventText({ data: { error: { code: 502, message: `AcmeCorp ${canary.upstreamBody}` } } }),
    keepAlive: /^: keep-alive\n\n/,
    errorTypes: openAiTypes,
    error: (parts) => ({ error: openAiError(parts) }),
    errorEvent: (parts) => ({ data: { error: openAiError(parts) } }),
  },
  responses: {
    path: '/v1/responses',
    question: { model: 'svc', input: canary.prompt },
    answer: {
      ...response,
      output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: canary.answer }] }],
    },
    events: [
      numbered('response.created', 0, { response }),
      numbered('response.output_text.delta', 1, delta),
      numbered('response.completed', 2, { response }),
    ],
    textEvent: (text) => numbered('response.output_text.delta', 1, { ...delta, delta: text }),
    failureEvent: typed('error', { sequence_number: 2, code: 'x', message: `AcmeCorp ${canary.upstreamBody}` }),
    keepAlive: /^: keep-alive\n\n/,
    errorTypes: openAiTypes,
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
    answer: { ...message, content: [{ type: 'text', text: canary.answer }], stop_reason: 'end_turn' },
    events: [
      typed('message_start', { message }),
      typed('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
      typed('content_block_delta', { index: 0, delta: { type: 'text_delta', text: canary.answer } }),
      typed('content_block_stop', { index: 0 }),
      typed('message_delta', { delta: { stop_reason: 'end_turn' } }),
      typed('message_stop'),
    ],
    textEvent: (text) => typed('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }),
    failureEvent: typed('error', {
      error: { type: 'overloaded_error', message: `AcmeCorp ${canary.upstreamBody}` },
    }),
    keepAlive: /^event: ping\ndata: {"type":"ping"}\n\n/,
    errorTypes: messagesTypes,
    error: ({ type, message: text }) => ({ type: 'error', error: { type, message: text } }),
    errorEvent: ({ type, message: text }) => ({
      event: 'error',
      data: { type: 'error', error: { type, message: text } },
    }),
  },
};
