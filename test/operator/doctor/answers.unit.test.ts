import { describe, expect, test } from '@jest/globals';
import { checkStreamUsage, checkUsage } from '../../../operator/doctor/answers.ts';
import type { Reply } from '../../../operator/doctor/probe.ts';

function replyOf(text: string, type = 'application/json'): Reply {
  const headers = new Headers({ 'content-type': type });
  return { title: '', status: 200, headers, text, arrivals: [], duration: 0 };
}
const plain = (usage?: object | null) => replyOf(JSON.stringify({ id: 'a', usage }));
const stream = (...values: readonly object[]) =>
  replyOf(values.map((value) => `data: ${JSON.stringify(value)}\n\n`).join(''), 'text/event-stream');

const none = [undefined, null, {}, { completion_tokens: null }];
const counted = { completion_tokens: 9, prompt_tokens: 12 };

describe('an answer', () => {
  const usages: [object, 'ok' | 'fail', string][] = [
    [counted, 'ok', ''],
    [{ output_tokens: 9 }, 'ok', ''],
    [{ output_tokens: 9, input_tokens: 0, cache_read_input_tokens: 12 }, 'ok', ''],
    [{ completion_tokens: 0, prompt_tokens: 12 }, 'fail', 'it reports 0 output tokens'],
    [{ output_tokens: 9, input_tokens: 0, cache_read_input_tokens: 0 }, 'fail', 'it reports 0 input tokens'],
    [{ completion_tokens: 9, prompt_tokens: 0 }, 'fail', 'it reports 0 input tokens'],
  ];
  test('reports tokens of its output and its input', () => {
    expect(usages.map(([usage]) => [usage, checkUsage(plain(usage))])).toEqual(
      usages.map(([usage, mark, detail]) => [usage, { mark, detail }]),
    );
  });

  test('without any is not tested', () => {
    expect(none.map((usage) => checkUsage(plain(usage)).mark)).toEqual(none.map(() => 'untested'));
  });
});

describe('a stream', () => {
  const start = (usage: object) => ({ type: 'message_start', message: { usage } });
  const texts = Array.from({ length: 5 }, () => ({ type: 'content_block_delta' }));

  const usages: [string, Reply, 'ok' | 'fail', string][] = [
    ['at its end', stream(...texts, { usage: counted }), 'ok', ''],
    ['in its completed response', stream(...texts, { response: { usage: { output_tokens: 4 } } }), 'ok', ''],
    [
      'whose input is known only at its end',
      stream(start({ input_tokens: 0, output_tokens: 0 }), ...texts, { usage: { input_tokens: 3, output_tokens: 4 } }),
      'ok',
      '',
    ],
    [
      'whose input is known only at its start',
      stream(start({ input_tokens: 3, output_tokens: 1 }), ...texts, { usage: { output_tokens: 4 } }),
      'ok',
      '',
    ],
    [
      'of 0 at its end',
      stream(start({ input_tokens: 3, output_tokens: 1 }), ...texts, { usage: { output_tokens: 0 } }),
      'fail',
      'it reports 0 output tokens',
    ],
    [
      'of no input',
      stream(start({ input_tokens: 0, output_tokens: 1 }), ...texts, { usage: { output_tokens: 4 } }),
      'fail',
      'it reports 0 input tokens',
    ],
    [
      'at its start only',
      stream(start({ output_tokens: 1 }), ...texts),
      'fail',
      'it has none, unlike the plain answer',
    ],
  ];
  test('reports them at its end or at its start', () => {
    expect(usages.map(([what, given]) => [what, checkStreamUsage(given, plain(counted))])).toEqual(
      usages.map(([what, , mark, detail]) => [what, { mark, detail }]),
    );
  });

  test('without any, like the plain answer, is not tested', () => {
    expect(checkStreamUsage(stream(...texts), plain()).mark).toBe('untested');
  });
});
