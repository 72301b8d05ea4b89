import { begin, cases, chunk, counted, end, say, tokens } from './case.ts';

const hello = [{ text: 'Hello' }];
const rain = '{"city":"Paris"}';
const one = { call: 'weather', args: rain, id: 'call_a' };

/** The ways in which an answer ends. */
export const ends = cases(hello, [
  ['at the output limit', [say('Hello'), end('length'), counted], { finish: 'length' }],
  ['at the output limit, by other names', [say('Hello'), end('max_tokens')], { finish: 'length' }],
  ['twice', [say('Hello'), end('length'), end(), counted], { finish: 'length' }],
  ['with a usage that comes before it', [counted, say('Hello'), end()]],
  [
    'at the output limit after a whole call',
    [begin('call_a', 0, 'weather', rain), end('length')],
    { says: [one], finish: 'length' },
  ],
  ['at a filter', [say('Hello'), end('content_filter')], { finish: 'filtered' }],
  [
    'with a refusal',
    [chunk({ refusal: 'I ca' }), chunk({ refusal: "n't." }), end()],
    { says: [{ refusal: "I can't." }] },
  ],
  ["at the caller's stop, as one server says it", [say('Hello'), end('stop', { stop_reason: 'END' })], { stop: 'END' }],
  ["at the caller's stop, as another says it", [say('Hello'), end('stop', { matched_stop: 'END' })], { stop: 'END' }],
  ["at a text that is not the caller's", [say('Hello'), end('stop', { stop_reason: '<|im_end|>' })]],
  [
    'after reasons that are empty or the string null, and refusals that are null',
    [
      chunk({ content: 'Hel', refusal: null }, { finish_reason: '' }),
      chunk({ content: 'lo' }, { finish_reason: 'null' }),
      end('length'),
    ],
    { finish: 'length' },
  ],
  [
    'with the usage in the finishing chunk, null before, and a text after',
    [{ ...say('Hel'), usage: null }, { ...end(), usage: tokens }, say('lo')],
  ],
  ['with the last event, without a reason', [say('Hello')]],
  ['without the last event', [say('Hello'), end(), counted, 'no [DONE]']],
  ['at once', [end()], { says: [] }],
  ['with more events after the last', [say('Hello'), end(), 'data: [DONE]\n\n', say('more'), 'data: [DONE]\n\n']],
  ['with a text after the reason', [say('Hel'), end(), say('lo')]],
]);
