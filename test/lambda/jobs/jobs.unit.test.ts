import { describe, expect, test } from '@jest/globals';
import { type Asker, createJobs, type DoInThread, type Order } from '../../../lambda/jobs/jobs.ts';
import type { Json } from '../../../lambda/json/scan.ts';
import { JsonFault } from '../../../lambda/json/tokens.ts';

/** Counts the values of a text: here, or in what stands for a thread. */
function open(isLenient = false) {
  const sent: { order: Order; memory: number; asker: Asker }[] = [];
  const inThread: DoInThread = async (order, memory, asker) => {
    sent.push({ order, memory, asker });
    return 'from a thread';
  };
  const count = (json: Json, name: string) => `${name} ${json.size}`;
  return { sent, job: createJobs(inThread)('count', count, { isLenient }), atOnce: createJobs()('count', count) };
}

const me = { caller: 'me' };
const values = (count: number) => `[${'0,'.repeat(count - 2)}0]`;

describe('a job', () => {
  test('goes to a thread if its text has many values', async () => {
    const { sent, job } = open();
    expect(await job(values(20_000), 'few', me)).toBe('few 20000');
    expect(sent).toEqual([]);
    expect(await job(values(20_001), 'many', me)).toBe('from a thread');
    const order = { name: 'count', text: values(20_001), isLenient: false, input: 'many' };
    expect(sent).toEqual([{ order, memory: 8 * order.text.length, asker: me }]);
  });

  test('stays if its text is long but has few values', async () => {
    const { sent, job } = open();
    expect(await job(JSON.stringify(['a\n'.repeat(2_000_000)]), 'long', me)).toBe('long 2');
    expect(sent).toEqual([]);
  });

  test('stays where there are no threads', async () => {
    expect(await open().atOnce(values(50_000), 'all', me)).toBe('all 50000');
  });

  test.each([1, 300_000])('takes what Python prints only if it may (%i)', async (length) => {
    const text = `["${'a'.repeat(length)}",NaN]`;
    await expect(open().job(text, '', me)).rejects.toThrow(JsonFault);
    await expect(open().atOnce(text, '', me)).rejects.toThrow(JsonFault);
    expect(await open(true).job(text, 'lenient', me)).toBe('lenient 3');
  });
});
