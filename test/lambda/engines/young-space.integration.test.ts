import { join } from 'node:path';
import { describe, expect, jest, test } from '@jest/globals';
import { longBody } from '../../../lambda/engines/young-space.ts';
import { eventText, hangUp, type Script, silence, write } from '../../../local/upstream/script.ts';
import { chunk, end, eventHead, path, startPricedGateway, streamed } from '../../support/priced-gateway.ts';
import { runNode } from '../../support/run-command.ts';
import { testRows } from '../../support/test-rows.ts';
import { waitUntil } from '../../support/wait-until.ts';

test("V8's space for young objects grows no further while a long body is read", async () => {
  const { out, err } = await runNode(join(import.meta.dirname, 'young-space-program.ts'), [], {});
  expect(err).toBe('');
  const { before, held, released } = JSON.parse(out);
  expect(held).toBe(before);
  expect(released).toBeGreaterThan(before);
});

describe('that space is held', () => {
  const [hold, release] = [1, 2].map((factor) => [`--semi-space-growth-factor=${factor}`]);
  const text = 'x'.repeat(longBody / 4);
  const events = (count: number) =>
    write(eventText(chunk({ choices: [{ index: 0, delta: { content: text } }] })).repeat(count));
  const whole = write(end.map(eventText).join(''));

  testRows<[string, 'function-url' | 'web', Script, boolean, unknown[]]>([
    ['by a long stream until its end', 'function-url', [events(6), whole], false, [hold, release]],
    ['until it is cut', 'function-url', [events(6), hangUp], false, [hold, release]],
    ['until the client leaves', 'function-url', [events(6), silence], true, [hold, release]],
    ['not by a shorter one', 'function-url', [events(3), whole], false, []],
    ['not by the HTTP server, which serves many', 'web', [events(6), whole], false, []],
  ])('%s', async (_, engine, rest, leaves, expected) => {
    await using gateway = await startPricedGateway({ engine });
    gateway.upstream.answer([eventHead, ...rest]);
    const setFlags = jest.spyOn(process.getBuiltinModule('node:v8'), 'setFlagsFromString');
    const answer = await gateway.post(path, JSON.parse(streamed), { 'x-api-key': 'guest' });
    if (leaves) {
      await waitUntil(() => setFlags.mock.calls.length > 0, 'the space to be held');
      await answer.body?.cancel();
    } else await answer.text();
    await gateway.ended();
    await waitUntil(() => setFlags.mock.calls.length >= expected.length, 'the space to be let go');
    expect(setFlags.mock.calls).toEqual(expected);
    setFlags.mockRestore();
  });
});
