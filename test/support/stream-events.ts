import type { Dialect } from '../../lambda/dialects/dialect.ts';
import type { ExpectedAnswer } from '../../lambda/dialects/model/expected-answer.ts';
import { readEvents } from './client-view.ts';
import { dialectNamed, rewriteStream } from './rewrite.ts';
import { toWire, type WireEvent } from './speech/teller.ts';

export const chat = dialectNamed('chat');
export const responses = dialectNamed('responses');
export const messages = dialectNamed('messages');

/** A chunk of a chat. */
export const chunk = (delta: object, rest: object = {}) => ({
  data: { id: 'x', model: 'm', choices: [{ index: 0, delta, finish_reason: null, ...rest }] },
});

/** The first events and the last one of a messages block. */
export const started = {
  type: 'message_start',
  data: { type: 'message_start', message: { model: 'm', content: [] } },
};
export const block = (delta: object, index = 0) => ({
  type: 'content_block_delta',
  data: { type: 'content_block_delta', index, delta },
});
export const stopped = { type: 'content_block_stop', data: { type: 'content_block_stop', index: 0 } };

type Stream = readonly [dialect: Dialect, events: readonly WireEvent[], expected?: Partial<ExpectedAnswer>];

/** What a client reassembles from a stream of these events. */
export const hear = (...[dialect, events, expected]: Stream) =>
  valuesOf(rewriteStream(dialect, toWire(events), [], expected).output);

const valuesOf = (output: string) => readEvents(output).map(({ value }) => Object(value));

/** The delta of each event, or its type if it has none. */
export const deltasOf = (output: string) =>
  valuesOf(output).map(({ choices, delta, type }) => choices?.[0].delta ?? delta ?? type);

export const hearDeltas = (...[dialect, events, expected]: Stream) =>
  deltasOf(rewriteStream(dialect, toWire(events), [], expected).output);
