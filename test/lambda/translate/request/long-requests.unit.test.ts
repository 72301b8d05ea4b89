import { expect, test } from '@jest/globals';
import { createScanner } from '../../../../lambda/json/scan.ts';
import { translateRequest } from '../../../../lambda/translate/translate-request.ts';
import { plainUpstream, seals } from './translate.ts';

/** What a request takes: how often it pauses, and the pieces of the body. */
function translate(members: string) {
  const json = createScanner().scan(`{"model":"svc",${members}}`);
  const work = translateRequest('responses', json, seals, { upstream: plainUpstream, model: 'up-model' });
  for (let pauses = 0; ; pauses += 1) {
    const { done, value } = work.next();
    if (done) return { pauses, pieces: value.pieces };
  }
}

const repeat = (count: number, element: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => element(index)).join();

const count = 60_000;
const text = '{"type":"input_text","text":"hello"}';

test.each<[what: string, members: string]>([
  ['messages', `"input":[${repeat(count, () => '{"role":"user","content":"hello"}')}]`],
  ['parts of one message', `"input":[{"role":"user","content":[${repeat(count, () => text)}]}]`],
  [
    'texts of one answer',
    `"input":[{"role":"assistant","content":[${repeat(count, () => text.replace('in', 'out'))}]}]`,
  ],
  ['tools', `"tools":[${repeat(count, (index) => `{"type":"function","name":"f${index}"}`)}]`],
  [
    'parts of one output, read before tools that stand before it',
    `"tools":[],"input":[{"type":"function_call","call_id":"c","name":"f","arguments":""},{"type":"function_call_output","call_id":"c","output":[${repeat(count, () => text)}]}]`,
  ],
])('a request with very many %s gives others their turn, in reading and in writing', (_what, members) => {
  const { pauses, pieces } = translate(members);
  expect(pauses).toBeGreaterThan(20);
  // Each piece is written to the connection by itself.
  expect(pieces.length).toBeLessThan(100);
});

test('a long text is not copied: it is a piece of its own, between those around it', () => {
  const long = 'x'.repeat(1_000_000);
  const { pieces } = translate(`"input":[{"role":"user","content":"a"},{"role":"user","content":"${long}"}]`);
  expect(pieces).toEqual([
    '{"model":"up-model","messages":[{"role":"user","content":"a"},{"role":"user","content":',
    `"${long}"`,
    '}]}',
  ]);
});
