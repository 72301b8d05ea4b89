import { gzipSync } from 'node:zlib';
import type { DialectName } from '../support/fixtures.ts';
import {
  empty,
  encoded,
  flood,
  hangUp,
  head,
  html,
  interim,
  json,
  raw,
  redirect,
  reset,
  type Script,
  silence,
  sse,
  write,
  writeByteByByte,
} from '../support/upstream-script.ts';
import { wire } from '../support/wire.ts';

/** One thing that an upstream can do to a request, and the promised consequence. */
export interface Outcome {
  readonly script: Script;
  /** The status that the client sees, and the error code: in a header, or, where a stream has begun, in its last event. */
  readonly status: number;
  readonly code?: string;
  readonly charged: boolean;
  /** Whether the next upstream is asked. */
  readonly movesOn?: true | 'maybe';
  /** What it is instead where it overtakes the beginning of a stream, as a reset may overtake what was sent before it. */
  readonly early?: { readonly status: number; readonly charged: boolean };
  /** Whether its key may rest after it. */
  readonly rests?: boolean;
  /** Whether it looks like a connection that had died before, so that the same upstream may be asked once more. */
  readonly looksDead?: boolean;
  /** Whether it is drawn only now and then, because it takes long. */
  readonly rare?: boolean;
  /** Whether the upstream never hears of the request. */
  readonly unheard?: boolean;
  /** When the client goes away: as soon as the upstream has the request, or with the first byte of an answer. */
  readonly clientLeaves?: 'asked' | 'answered';
}

export type Outcomes = Readonly<Record<string, Outcome>>;

const eventStream = head(200, { 'content-type': 'text/event-stream' });
const jsonHead = head(200, { 'content-type': 'application/json' });
const details = { error: { message: 'AcmeCorp says no' } };

const refunded = { charged: false, status: 502, code: 'upstream_error' } as const;
const lost = { ...refunded, movesOn: true } as const;
const charged = { charged: true, status: 200 } as const;
/** In a stream that has begun, the status is out already. */
const broken = { ...refunded, status: 200 } as const;
const overtaken = { movesOn: 'maybe', looksDead: true, early: refunded } as const;

/** What happens before any answer, the same for a plain answer and for a stream. */
const beginnings: Outcomes = {
  'reset before the head': { script: [reset], ...lost, looksDead: true },
  'closed before the head': { script: [hangUp], ...lost, looksDead: true },
  'reset in the head': { script: [raw('HTTP/1.1 20'), reset], ...lost, looksDead: true },
  'no HTTP': { script: [raw('hello\r\n\r\n'), hangUp], ...lost },
  ...Object.fromEntries(
    [500, 502, 503, 529].map((status) => [String(status), { script: json(status, details), ...lost, status }]),
  ),
  '504 in HTML': { script: html(504), ...lost, status: 504 },
  '500 without a body': { script: empty(500), ...lost, status: 500 },
  401: { script: json(401, details), ...lost, rests: true },
  402: { script: html(402), ...lost, rests: true },
  403: { script: json(403, details), ...lost },
  429: {
    script: json(429, details, { 'retry-after': '7' }),
    ...lost,
    status: 503,
    code: 'service_unavailable',
    rests: true,
  },
  404: { script: json(404, details), ...refunded },
  408: { script: json(408, details), ...refunded, status: 504, code: 'upstream_timeout' },
  'a redirect': { script: redirect('http://127.0.0.1:9/'), ...refunded },
  400: { script: json(400, details), charged: true, status: 400, code: 'invalid_request' },
  '422 in HTML': { script: html(422), charged: true, status: 422, code: 'invalid_request' },
  413: { script: json(413, details), charged: true, status: 413, code: 'request_too_large' },
  'empty 200': { script: empty(200), ...refunded },
  '200 in HTML': { script: html(200), ...refunded },
  'an error in a 200': { script: json(200, details), ...refunded },
  'closed after the head': { script: [jsonHead, hangUp], ...refunded },
  'the client leaves at once': { script: [silence], ...charged, clientLeaves: 'asked' },
};

/** What happens to a plain answer. */
export function wholeOutcomes(dialect: DialectName): Outcomes {
  const { answer } = wire[dialect];
  const text = JSON.stringify(answer);
  const half = text.slice(0, text.length / 2);
  const whole: Outcomes = {
    answered: { script: json(200, answer), ...charged },
    'answered in bytes': { script: [jsonHead, writeByteByByte(text.slice(0, 40)), write(text.slice(40))], ...charged },
    'answered in gzip': { script: encoded('gzip', text), ...charged },
    'answered after an interim head': { script: [interim(103), ...json(200, answer)], ...charged },
    'half an answer': { script: [jsonHead, write(half)], ...refunded },
    'reset in the answer': { script: [jsonHead, write(half), reset], ...refunded, ...overtaken },
    'less than its length': { script: [head(200, { 'content-length': '9999' }), write(text), hangUp], ...refunded },
    'broken gzip': {
      script: [head(200, { 'content-encoding': 'gzip' }), write(gzipSync(text).subarray(0, 30))],
      ...refunded,
    },
    'an answer without end': { script: [jsonHead, flood(100 * 1024 * 1024)], ...refunded, rare: true },
    'the client leaves before its answer': { script: [jsonHead, silence], ...charged, clientLeaves: 'asked' },
  };
  return { ...beginnings, ...whole };
}

/** What happens to a stream. */
export function streamOutcomes(dialect: DialectName): Outcomes {
  const { events, failureEvent, textEvent } = wire[dialect];
  const text = events.join('');
  const [first = '', second = ''] = events;
  const begun = [eventStream, write(first)];
  const streams: Outcomes = {
    streamed: { script: sse(text), ...charged },
    'streamed in bytes': { script: [eventStream, writeByteByByte(first), write(text.slice(first.length))], ...charged },
    'streamed in gzip': { script: encoded('gzip', text, { 'content-type': 'text/event-stream' }), ...charged },
    'streamed at length': { script: [...begun, write(textEvent('x').repeat(200)), write(text)], ...charged },
    'closed after its end': { script: [eventStream, write(text), hangUp], ...charged },
    ...(dialect === 'chat' && {
      'closed without [DONE]': { script: [eventStream, write(events.slice(0, -1).join('')), hangUp], ...charged },
    }),
    'an end before any event': { script: [eventStream], ...refunded },
    'an error as first event': { script: sse(failureEvent), ...refunded },
    'only comments': { script: sse(': hello\n\n'), ...refunded },
    'broken JSON as first event': { script: sse('data: {"\n\n'), ...refunded },
    'an end without its last event': { script: [...begun, write(second)], ...broken },
    'reset between events': { script: [...begun, reset], ...broken, ...overtaken },
    'closed in an event': { script: [...begun, write(second.slice(0, 30)), hangUp], ...broken },
    'an error event': { script: [...begun, write(failureEvent)], ...broken },
    'broken JSON': { script: [...begun, write('data: {"a":\n\n'), silence], ...broken },
    'the client leaves in the stream': { script: [...begun, silence], ...charged, clientLeaves: 'answered' },
  };
  return { ...beginnings, ...streams };
}

/** What happens to the counting of tokens, which an upstream need not offer. */
export const tokenOutcomes: Outcomes = {
  counted: { script: json(200, { input_tokens: 7 }), ...charged },
  unknown: { script: json(404, details), charged: true, status: 404, code: 'not_found' },
  failed: { script: json(500, details), charged: true, status: 500, code: 'upstream_error', movesOn: true },
};

const late = { charged: false, status: 504, code: 'upstream_timeout' } as const;

/** An upstream that falls silent, where a stream's silence is cut and its client is kept alive until then. */
export function silentOutcomes(dialect: DialectName): Outcomes {
  const [first = ''] = wire[dialect].events;
  const kept = { ...late, status: 200 };
  return {
    'no head': { script: [silence], ...kept },
    'no event': { script: [eventStream, silence], ...kept },
    'no further event': { script: [eventStream, write(first), silence], ...kept },
    'half an event': { script: [eventStream, write(first), write('data: {'), silence], ...kept },
  };
}

/** An upstream that is still at work when the time of a request is over. */
export function endlessOutcomes(dialect: DialectName): Outcomes {
  const [first = ''] = wire[dialect].events;
  return {
    'no head': { script: [silence], ...late },
    'no event': { script: [eventStream, silence], ...late },
    // A client that has read some of it pays for it.
    'no end': {
      script: [eventStream, write(first), silence],
      ...{ charged: true, status: 200, code: 'upstream_timeout', early: late },
    },
  };
}

export const endlessAnswers: Outcomes = {
  'no head': { script: [silence], ...late },
  'no body': { script: [jsonHead, silence], ...late },
  'no end': { script: [jsonHead, write('{'), silence], ...late },
};

/** An upstream that refuses connections, and one that does not take them. */
export const refusing: Outcomes = { refused: { script: [], ...refunded, unheard: true } };
export const deaf: Outcomes = { deaf: { script: [], ...late, unheard: true } };
