import { type ChatCase, call, chunk, counted, end, say, tokens, usageOf } from './case.ts';

const hello = [{ text: 'Hello' }];
const rain = '{"city":"Paris"}';
const one = { call: 'weather', args: rain, id: 'call_a' };

/** The ways in which an answer ends. */
export const ends: readonly ChatCase[] = [
  {
    name: 'at the output limit',
    chunks: [say('Hello'), end('length'), counted],
    says: hello,
    finish: 'length',
    usage: tokens,
  },
  {
    name: 'at the output limit, by other names',
    chunks: [say('Hello'), end('max_tokens')],
    says: hello,
    finish: 'length',
  },
  {
    name: 'at the output limit after a whole call',
    chunks: [call({ index: 0, id: 'call_a', name: 'weather', args: rain }), end('length')],
    says: [one],
    finish: 'length',
  },
  { name: 'at a filter', chunks: [say('Hello'), end('content_filter')], says: hello, finish: 'filtered' },
  { name: 'at a filter before the first word', chunks: [end('content_filter')], says: [], finish: 'filtered' },
  {
    name: 'with a refusal',
    chunks: [chunk({ refusal: 'I ca' }), chunk({ refusal: "n't." }), end()],
    says: [{ refusal: "I can't." }],
  },
  {
    name: 'with a refusal after a text',
    chunks: [say('Hello'), chunk({ refusal: 'No more.' }), end()],
    says: [...hello, { refusal: 'No more.' }],
  },
  {
    name: "at the caller's stop, as one server says it",
    chunks: [say('Hello'), end('stop', { stop_reason: 'END' })],
    says: hello,
    stop: 'END',
  },
  {
    name: "at the caller's stop, as another says it",
    chunks: [say('Hello'), end('stop', { matched_stop: 'END' })],
    says: hello,
    stop: 'END',
  },
  {
    name: 'at a stop that is a number',
    chunks: [say('Hello'), end('stop', { stop_reason: 151_645, matched_stop: 151_645 })],
    says: hello,
  },
  {
    name: "at a text that is not the caller's",
    chunks: [say('Hello'), end('stop', { stop_reason: '<|im_end|>' })],
    says: hello,
  },
  { name: 'for a reason of its own', chunks: [say('Hello'), end('eos')], says: hello },
  {
    name: 'after reasons that are empty or the word null, and refusals that are null',
    chunks: [
      chunk({ content: 'Hel', refusal: null }, { finish_reason: '' }),
      chunk({ content: 'lo' }, { finish_reason: 'null' }),
      end(),
    ],
    says: hello,
  },
  {
    name: 'twice',
    chunks: [say('Hello'), end('length'), end(), counted],
    says: hello,
    finish: 'length',
    usage: tokens,
  },
  {
    name: 'with the usage in the finishing chunk, and null before',
    chunks: [
      { ...say('Hello'), usage: null },
      { ...end(), usage: tokens },
    ],
    says: hello,
    usage: tokens,
  },
  {
    name: 'with the usage beside an empty delta',
    chunks: [say('Hello'), end(), { ...chunk({ content: '' }), usage: tokens }],
    says: hello,
    usage: tokens,
  },
  {
    name: 'with the usage in the choice',
    chunks: [say('Hello'), end('stop', { usage: tokens })],
    says: hello,
    usage: tokens,
  },
  {
    name: 'with a usage that has no choices member',
    chunks: [say('Hello'), end(), { id: 'x', usage: tokens }],
    says: hello,
    usage: tokens,
  },
  {
    name: 'with more cached tokens than tokens',
    chunks: [
      say('Hello'),
      end(),
      usageOf({ prompt_tokens: 5, completion_tokens: 1, prompt_tokens_details: { cached_tokens: 9 } }),
    ],
    says: hello,
    usage: { prompt_tokens: 5, completion_tokens: 1, prompt_tokens_details: { cached_tokens: 9 } },
  },
  {
    name: 'with tokens written to a cache',
    chunks: [
      say('Hello'),
      end(),
      usageOf({
        prompt_tokens: 10,
        completion_tokens: 1,
        prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 5 },
      }),
    ],
    says: hello,
    usage: {
      prompt_tokens: 10,
      completion_tokens: 1,
      prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 5 },
    },
  },
  {
    name: 'with cached tokens beside the total',
    chunks: [say('Hello'), end(), usageOf({ prompt_tokens: 10, completion_tokens: 1, prompt_cache_hit_tokens: 4 })],
    says: hello,
    usage: { prompt_tokens: 10, completion_tokens: 1, prompt_cache_hit_tokens: 4 },
  },
  { name: 'with the last event, without a reason', chunks: [say('Hello')], says: hello },
  { name: 'without the last event', chunks: [say('Hello'), end(), counted, 'no [DONE]'], says: hello, usage: tokens },
  { name: 'at once', chunks: [end()], says: [] },
  {
    name: 'with more events after the last',
    chunks: [say('Hello'), end(), 'data: [DONE]\n\n', say('more'), 'data: [DONE]\n\n'],
    says: hello,
  },
  { name: 'with a text after the reason', chunks: [say('Hel'), end(), say('lo')], says: hello },
];
