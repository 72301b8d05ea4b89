import { gzipSync } from 'node:zlib';
import {
  empty,
  eventText,
  hangUp,
  head,
  json,
  reset,
  type Script,
  silence,
  sse,
  write,
} from '../../local/upstream/script.ts';
import type { DialectName } from '../support/fixtures.ts';
import { canary, wire } from '../support/wire.ts';
import type { Delivered } from './ledger.ts';

/** One thing that an upstream can do with a request, and the promised consequence. The tests of failures cover all of them. */
export interface Outcome {
  readonly script: Script;
  /** The status and error code that the client sees. The code is in a header, or in the last event of a stream that had started. */
  readonly status: number;
  readonly code?: string;
  readonly charged: boolean;
  /** The consequence if a reset overtakes the start of a stream that was sent before it. */
  readonly early?: { readonly status: number; readonly charged: boolean };
  /**
   * When the client disconnects: once the upstream has the request, or at the first byte of the answer, or of its finish reason.
   */
  readonly clientLeaves?: 'asked' | 'answered' | 'finished';
  /** What must be paid for; absent if nothing. */
  readonly delivered?: Delivered;
  /** What the gateway still reads once the client has disconnected; absent if nothing. */
  readonly readOn?: ReadOn;
  /** The same for a caller with a budget. */
  readonly readOnForBudget?: ReadOn;
}

interface ReadOn {
  readonly script: Script;
  readonly delivered: Delivered;
}

export type Outcomes = Readonly<Record<string, Outcome>>;

const eventStream = head(200, { 'content-type': 'text/event-stream' });
const jsonHead = head(200, { 'content-type': 'application/json' });
const inGzip = (text: string, type: string): Script => [
  head(200, { 'content-type': type, 'content-encoding': 'gzip' }),
  write(gzipSync(text)),
];
const details = { error: { message: 'AcmeCorp says no' } };

const refunded = { charged: false, status: 502, code: 'upstream_error' } as const;
const charged = { charged: true, status: 200 } as const;
/** The client disconnects before it has received anything. */
const unheard = { ...charged, clientLeaves: 'asked', delivered: { isWhole: false } } as const;
/** The token counts in each answer of the scripted upstream, except in a chat's stream. */
const counts = { input: 10, output: 5 };
/** The token counts of answers whose client disconnected: much more than an estimate, as if the model had reasoned. */
const dear = { input: 500, output: 7_000, isWhole: true };
const dearly = (text: string): string =>
  text.replace(/(?<=_tokens":)(10|5)\b/g, (count) => String(Number(count) === counts.input ? dear.input : dear.output));
/** Once a stream has started, the status has already been sent. */
const broken = { ...refunded, status: 200 } as const;
const overtaken = { early: refunded } as const;

/** Failures before any response, the same for plain answers and streams. */
const beginnings: Outcomes = {
  'reset before the head': { script: [reset], ...refunded },
  ...Object.fromEntries(
    [500, 529].map((status) => [String(status), { script: json(status, details), ...refunded, status }]),
  ),
  401: { script: json(401, details), ...refunded },
  429: {
    script: json(429, details, { 'retry-after': '7' }),
    ...refunded,
    status: 503,
    code: 'service_unavailable',
  },
  408: { script: json(408, details), ...refunded, status: 504, code: 'upstream_timeout' },
  400: { script: json(400, details), charged: true, status: 400, code: 'invalid_request' },
  413: { script: json(413, details), charged: true, status: 413, code: 'request_too_large' },
  'empty 200': { script: empty(200), ...refunded },
  'an error in a 200': { script: json(200, details), ...refunded },
  'closed after the head': { script: [jsonHead, hangUp], ...refunded },
};

/** Outcomes of a plain answer. */
function wholeOutcomes(dialect: DialectName): Outcomes {
  const { answer } = wire[dialect];
  const text = JSON.stringify(answer);
  const answered = { ...charged, delivered: { ...counts, isWhole: true } };
  const half = text.slice(0, text.length / 2);
  const whole: Outcomes = {
    answered: { script: json(200, answer), ...answered },
    'answered in gzip': { script: inGzip(text, 'application/json'), ...answered },
    'half an answer': { script: [jsonHead, write(half)], ...refunded },
    'reset in the answer': { script: [jsonHead, write(half), reset], ...refunded, ...overtaken },
    'answered with zeros for counts': {
      script: json(200, JSON.parse(text.replace(/_tokens":\d+/g, '_tokens":0'))),
      ...charged,
      delivered: { input: 0, output: 0, text: Buffer.byteLength(canary.answer), isWhole: true },
    },
    'the client leaves at once': {
      ...{ script: [silence], ...unheard },
      readOnForBudget: { script: json(200, JSON.parse(dearly(text))), delivered: dear },
    },
    'the client leaves before its answer': {
      ...{ script: [jsonHead, silence], ...unheard },
      readOnForBudget: { script: [write(dearly(text))], delivered: dear },
    },
  };
  return { ...beginnings, ...whole };
}

const wholeStream = (dialect: DialectName): Delivered => ({
  ...(dialect === 'chat' ? {} : counts),
  text: Buffer.byteLength(canary.answer),
  isWhole: true,
});
/** A message starts with its token counts, in which the output is still 1. */
const firstEvent = (dialect: DialectName): Delivered => ({
  ...(dialect === 'messages' && { input: dear.input, output: 1 }),
  isWhole: false,
});

const usage = { prompt_tokens: dear.input, completion_tokens: dear.output };
const usageOfChat = eventText({ data: { id: 'x', object: 'chat.completion.chunk', choices: [], usage } });

/** Outcomes of a stream. */
function streamOutcomes(dialect: DialectName): Outcomes {
  const { events, failureEvent, textEvent } = wire[dialect];
  const text = events.join('');
  const [first = '', second = ''] = events;
  const begun = [eventStream, write(first)];
  const dearEvents = events.map(dearly);
  if (dialect === 'chat') dearEvents.splice(-1, 0, usageOfChat);
  const [dearFirst = '', ...dearRest] = dearEvents;
  const delivered = wholeStream(dialect);
  const streamed = { ...charged, delivered };
  const streams: Outcomes = {
    streamed: { script: sse(text), ...streamed },
    'streamed in gzip': { script: inGzip(text, 'text/event-stream'), ...streamed },
    'streamed at length': {
      script: [...begun, write(textEvent('x').repeat(200)), write(text)],
      ...charged,
      delivered: { ...delivered, text: 200 + (delivered.text ?? 0) },
    },
    ...(dialect === 'chat' && {
      'closed without [DONE]': { script: [eventStream, write(events.slice(0, -1).join('')), hangUp], ...streamed },
    }),
    'an end before any event': { script: [eventStream], ...refunded },
    'an error as first event': { script: sse(failureEvent), ...refunded },
    'an end without its last event': { script: [...begun, write(second)], ...broken },
    'reset between events': { script: [...begun, reset], ...broken, ...overtaken },
    'an error event': { script: [...begun, write(failureEvent)], ...broken },
    'broken JSON': { script: [...begun, write('data: {"a":\n\n'), silence], ...broken },
    'the client leaves at once': {
      ...{ script: [silence], ...unheard },
      readOnForBudget: { script: sse(dearEvents.join('')), delivered: dear },
    },
    'the client leaves in the stream': {
      script: [eventStream, write(dearFirst), silence],
      ...{ ...charged, clientLeaves: 'answered', delivered: firstEvent(dialect) },
      readOnForBudget: { script: [write(dearRest.join(''))], delivered: dear },
    },
    ...(dialect === 'chat' && {
      'the client leaves before the usage': {
        script: [eventStream, write(events.slice(0, -1).join(''))],
        ...{ ...charged, clientLeaves: 'finished' },
        readOn: { script: [write(usageOfChat)], delivered: dear },
      },
    }),
  };
  return { ...beginnings, ...streams };
}

/** Outcomes of counting tokens, which an upstream need not support. */
const tokenOutcomes: Outcomes = {
  counted: { script: json(200, { input_tokens: 7 }), ...charged },
  unknown: { script: json(404, details), charged: true, status: 404, code: 'not_found' },
  failed: { script: json(500, details), charged: true, status: 500, code: 'upstream_error' },
};

/** What may become of a request. */
export function outcomesOf(dialect: DialectName, wanted: 'whole' | 'stream' | 'tokens'): Outcomes {
  if (wanted === 'tokens') return tokenOutcomes;
  return wanted === 'stream' ? streamOutcomes(dialect) : wholeOutcomes(dialect);
}
