import { describe, expect, test } from '@jest/globals';
import { createInputEstimate, estimateReservation, fittingOutput } from '../../../lambda/budget/estimate.ts';
import type { ModelPrices } from '../../../lambda/budget/prices.ts';
import { createScanner } from '../../../lambda/json/scan.ts';
import { createRandom } from '../../support/random.ts';
import { dialectNamed } from '../../support/rewrite.ts';
import { testRows } from '../../support/test-rows.ts';

const prices: ModelPrices = { input: 3_000_000, output: 15_000_000, cacheRead: 300_000, cacheWrite: 3_750_000 };
const reservedOutput = 4_096;

function estimate(name: string, given: object | string, own: Partial<ModelPrices> = {}) {
  const text = typeof given === 'string' ? given : JSON.stringify(given);
  const body = createScanner().scan(text);
  const dialect = dialectNamed(name);
  const input = createInputEstimate(body, Buffer.byteLength(text));
  dialect.searchContent(body, { stopsAtVision: false, onFile: input.addFile });
  return estimateReservation(body, input.tokens(), dialect, { ...prices, ...own }, reservedOutput);
}

describe('the input', () => {
  test('is a third of the bytes of the body, at the highest price', () => {
    const text = '{"messages":[{"role":"user","content":"你好 😀"}]}';
    expect(Buffer.byteLength(text)).toBe(54);
    const { inputTokens, input } = estimate('chat', text);
    expect(inputTokens).toBe(18);
    // 18 × 3.75 = 67.5
    expect(input).toBe(68);
    expect(estimate('chat', text, { cacheRead: 4_000_000 }).input).toBe(72);
  });

  const data = `data:image/png;base64,${'A'.repeat(90_000)}`;
  const base64 = 'A'.repeat(90_000);
  const inChat = (part: object, where = 'content') => ({ messages: [{ role: 'user', [where]: [part] }] });
  const inMessages = (part: object) => ({ messages: [{ role: 'user', content: [part] }] });
  const inInput = (part: object) => ({ input: [{ role: 'user', content: [part] }] });

  const picture = { type: 'image', source: { type: 'base64', data: base64 } };

  testRows([
    ['chat', inChat({ type: 'image_url', image_url: { url: data } }), data, 2_000],
    ['chat', inChat({ type: 'video_url', video_url: { url: data } }), data, 9_003],
    ['chat', inChat({ type: 'input_audio', input_audio: { data: base64, format: 'wav' } }), base64, 9_000],
    ['chat', { messages: [], prediction: { content: [{ type: 'file', file: { file_data: base64 } }] } }, base64, 9_000],
    ['messages', inMessages({ type: 'image', source: { type: 'url', url: 'https://a.example/b' } }), '', 2_000],
    ['messages', inMessages({ type: 'document', source: { type: 'base64', data: base64 } }), base64, 9_000],
    ['messages', inMessages({ type: 'container_upload', file_id: 'file_1' }), '', 2_000],
    ['messages', inMessages({ type: 'tool_result', content: [picture] }), base64, 2_000],
    ['messages', inMessages({ type: 'document', source: { type: 'content', content: [picture] } }), base64, 2_000],
    ['responses', inInput({ type: 'input_image', image_url: data }), data, 2_000],
    ['responses', inInput({ type: 'input_file', file_data: base64 }), base64, 9_000],
    ['responses', inInput({ type: 'input_video', video_url: data }), data, 9_003],
    ['responses', { input: [{ type: 'image_generation_call', result: base64 }] }, base64, 2_000],
    ['responses', { input: [{ output: { type: 'computer_screenshot', image_url: data } }] }, data, 2_000],
    ['responses', { prompt: { variables: { shot: { type: 'input_image', image_url: data } } } }, data, 2_000],
  ])('in each dialect, the data of a file does not count as text', (name, body, read, tokens) => {
    const bytes = Buffer.byteLength(JSON.stringify(body)) - read.length;
    expect(estimate(name, body).inputTokens).toBe(Math.ceil(bytes / 3) + tokens);
  });

  testRows<[string, object]>([
    ['chat', { messages: [{ role: 'user', content: data }] }],
    ['chat', inChat({ type: 'text', text: 'a', image_url: { url: data } })],
    ['chat', { messages: [], tools: [{ type: 'image_url', image_url: { url: data } }] }],
    ['chat', { messages: [{ tool_calls: [{ type: 'file', file: { file_data: base64 } }] }] }],
    ['messages', inMessages({ type: 'document', source: { type: 'text', data: base64 } })],
    ['messages', inMessages({ type: 'tool_use', input: { type: 'image', source: { data: base64 } } })],
    ['responses', inInput({ type: 'input_text', text: data })],
    ['responses', { input: [{ type: 'function_call', arguments: data }] }],
    ['responses', { prompt: { variables: { image_url: data } } }],
  ])('in each dialect, what only looks like a file counts as text', (name, body) => {
    expect(estimate(name, body).inputTokens).toBe(Math.ceil(Buffer.byteLength(JSON.stringify(body)) / 3));
  });

  test('a file that is used twice is deducted once', () => {
    const part = `{"type":"image_url","image_url":{"url":"${data}","url":"${data}"}}`;
    const text = `{"messages":[{"content":[${part}]}]}`;
    expect(estimate('chat', text).inputTokens).toBe(Math.ceil((text.length - data.length) / 3) + 2_000);
  });
});

describe('the output', () => {
  const chat = (members: string) => `{"messages":[]${members && `,${members}`}}`;

  testRows<[string, number]>([
    ['', 4_096],
    ['"max_tokens":100', 100],
    ['"max_completion_tokens":100', 100],
    ['"max_tokens":1,"max_completion_tokens":9000', 9_000],
    ['"max_tokens":9000,"max_completion_tokens":1', 9_000],
    ['"max_tokens":100.0', 100],
    ['"max_tokens":1e3', 1_000],
    ['"max_tokens":null', 4_096],
    // Whatever an upstream makes of these, they reserve no less than no limit at all.
    ...['0', '-1', '99.5', '"100000"', '[1]'].flatMap((limit): [string, number][] => [
      [`"max_tokens":${limit}`, 4_096],
      [`"max_tokens":1,"max_completion_tokens":${limit}`, 4_096],
    ]),
    ['"max_tokens":9007199254740993', Number.MAX_SAFE_INTEGER],
    ['"max_tokens":1e999', Number.MAX_SAFE_INTEGER],
    ['"max_output_tokens":1', 4_096],
    ['"metadata":{"max_tokens":1}', 4_096],
  ])('of a chat is limited by the larger of its limits', (members, limit) => {
    expect(estimate('chat', chat(members))).toMatchObject({ outputLimit: limit, choices: 1 });
  });

  testRows([
    ['messages', '{"messages":[],"max_tokens":100}'],
    ['responses', '{"input":"","max_output_tokens":100}'],
  ])('is limited by the dialect’s own member, or else by the model', (name, text) => {
    expect(estimate(name, text).output).toBe(1_500);
    expect(estimate(name, text.replace('max_', 'min_'), { maxOutput: 200 }).output).toBe(3_000);
  });

  test('counts for each choice', () => {
    expect(estimate('chat', chat('"max_tokens":100,"n":3'))).toMatchObject({ output: 4_500, choices: 3 });
    expect(estimate('chat', chat('"max_tokens":100,"n":null')).choices).toBe(1);
    expect(estimate('responses', '{"input":"","max_output_tokens":100,"n":3}')).toMatchObject({ output: 1_500 });
  });

  test('is capped at the largest amount, and never overflows', () => {
    const most = Number.MAX_SAFE_INTEGER;
    for (const n of ['1e15', '1e300', '1e999']) {
      expect(estimate('chat', chat(`"max_tokens":1e300,"n":${n}`)).total).toBe(most);
    }
    expect(estimate('chat', chat('"max_tokens":1e300,"n":1e999'), { output: 0 })).toMatchObject({ output: 0 });
  });

  testRows<[string, string]>([
    ...['0', '1.5', '"8"'].map((n): [string, string] => [`"n":${n}`, 'n must be a whole number of 1 or more.']),
    ['"max_tokens":1,"max_tokens":100000', 'max_tokens is repeated: send it once.'],
    ['"max_tokens":1,"m\\u0061x_tokens":100000', 'max_tokens is repeated: send it once.'],
    ['"max_tokens":1,"Max_Tokens":100000', 'Max_Tokens is not a field: case matters. Write max_tokens.'],
    ['"max_to\u212Aens":100000', 'max_to\u212Aens is not a field: case matters. Write max_tokens.'],
    ['"N":64', 'N is not a field: case matters. Write n.'],
  ])('of a chat is refused if it is ambiguous', (members, message) => {
    expect(() => estimate('chat', chat(members))).toThrow(
      expect.objectContaining({ code: 'invalid_request', message }),
    );
  });
});

describe('a smaller output limit', () => {
  const text = '{"messages":[],"max_tokens":60000,"n":2}';

  test('is the largest that costs no more than what is left', () => {
    const random = createRandom(28);
    for (let turn = 0; turn < 300; turn += 1) {
      const own = { input: random.below(10_000_000), output: 1 + random.below(80_000_000) };
      const reservation = estimate('chat', text, own);
      const left = random.below(reservation.total);
      const fitting = fittingOutput(reservation, { ...prices, ...own }, left);
      const costWith = (limit: number) => estimate('chat', text.replace('60000', `${limit}`.padEnd(5)), own).total;
      if (fitting === undefined) expect(costWith(1)).toBeGreaterThan(left);
      else {
        expect(costWith(fitting)).toBeLessThanOrEqual(left);
        expect(costWith(fitting + 1)).toBeGreaterThan(left);
      }
    }
  });

  test('does not help if answers cost nothing, or if nothing is left', () => {
    expect(fittingOutput(estimate('chat', text, { output: 0 }), { ...prices, output: 0 }, 10)).toBeUndefined();
    expect(fittingOutput(estimate('chat', text), prices, 0)).toBeUndefined();
    expect(fittingOutput(estimate('chat', text), prices, -5)).toBeUndefined();
  });
});
