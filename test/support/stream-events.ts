import { readEvents } from './client-view.ts';
import { dialectNamed } from './rewrite.ts';

export const chat = dialectNamed('chat');
export const responses = dialectNamed('responses');
export const messages = dialectNamed('messages');

/** A chunk of a chat. */
export const chunk = (delta: object, rest: object = {}) => ({
  data: { id: 'x', model: 'm', choices: [{ index: 0, delta, finish_reason: null, ...rest }] },
});

/** The start, a delta and the end of a messages block. */
export const started = {
  type: 'message_start',
  data: { type: 'message_start', message: { model: 'm', content: [] } },
};
export const block = (delta: object, index = 0) => ({
  type: 'content_block_delta',
  data: { type: 'content_block_delta', index, delta },
});
export const stopped = { type: 'content_block_stop', data: { type: 'content_block_stop', index: 0 } };

/** What each event of a stream adds, or its type where it adds nothing. */
export const deltasOf = (output: string) =>
  readEvents(output).map(({ value }) => Object(value).choices?.[0].delta ?? Object(value).delta ?? Object(value).type);
