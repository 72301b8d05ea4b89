import { describe, expect, test } from '@jest/globals';
import { type Asker, createJobs, type DoInThread, type JobMessage } from '../../../lambda/jobs/jobs.ts';
import type { Json } from '../../../lambda/json/scan.ts';
import { JsonFault } from '../../../lambda/json/tokens.ts';

/** Jobs that count the values of a text: inline, or in a fake thread. */
function open(isLenient = false, opensTexts = false) {
  const sent: { message: JobMessage; memory: number; asker: Asker }[] = [];
  const inThread: DoInThread = async (message, memory, asker) => {
    sent.push({ message, memory, asker });
    return 'from a thread';
  };
  const count = (json: Json, name: string) => `${name} ${json.size}`;
  return {
    sent,
    inThread,
    job: createJobs(inThread)('count', count, { isLenient, opensTexts }),
    atOnce: createJobs()('count', count),
  };
}

const me = { caller: 'me' };
const values = (count: number) => `[${'0,'.repeat(count - 2)}0]`;

describe('a job', () => {
  test('goes to a thread if its text has many values', async () => {
    const { sent, job } = open();
    expect(await job(values(20_000), 'few', me)).toBe('few 20000');
    expect(sent).toEqual([]);
    expect(await job(values(20_001), 'many', me)).toBe('from a thread');
    const message = { name: 'count', text: values(20_001), isLenient: false, input: 'many' };
    expect(sent).toEqual([{ message, memory: 8 * message.text.length, asker: me }]);
  });

  test('runs inline if its text is long but has few values', async () => {
    const { sent, job } = open();
    expect(await job(JSON.stringify(['a\n'.repeat(2_000_000)]), 'long', me)).toBe('long 2');
    expect(sent).toEqual([]);
  });

  test.each(['{', '[1,', '\n [', '\\', '"'])(
    'goes to a thread if it opens texts, and they may be long JSON (%j)',
    async (beginning) => {
      const texts = (length: number) => JSON.stringify([...'ab'].map(() => beginning + 'x'.repeat(length)));
      const { sent, job } = open(false, true);
      expect(await job(texts(500_000), 'short', me)).toBe('short 3');
      expect(await job(texts(600_000).replaceAll(JSON.stringify(beginning).slice(1, -1), 'data:'), 'other', me)).toBe(
        'other 3',
      );
      expect(await open().job(texts(600_000), 'unopened', me)).toBe('unopened 3');
      expect(sent).toEqual([]);
      expect(await job(texts(600_000), 'long', me)).toBe('from a thread');
    },
  );

  test('goes to a thread if its text is longer than its work may handle inline', async () => {
    const { sent, inThread } = open();
    const job = createJobs(inThread)('count', (json) => json.size, { mostCharacters: 30_000 });
    expect(await job(JSON.stringify('a'.repeat(29_998)), 0, me)).toBe(1);
    expect(sent).toEqual([]);
    expect(await job(JSON.stringify('a'.repeat(29_999)), 0, me)).toBe('from a thread');
  });

  test('runs inline if there are no threads', async () => {
    expect(await open().atOnce(values(50_000), 'all', me)).toBe('all 50000');
  });

  test.each([1, 300_000])('accepts the NaN that Python prints only if lenient (%i)', async (length) => {
    const text = `["${'a'.repeat(length)}",NaN]`;
    await expect(open().job(text, '', me)).rejects.toThrow(JsonFault);
    await expect(open().atOnce(text, '', me)).rejects.toThrow(JsonFault);
    expect(await open(true).job(text, 'lenient', me)).toBe('lenient 3');
  });
});
