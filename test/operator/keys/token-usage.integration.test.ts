import { afterAll, expect, test } from '@jest/globals';
import { memberHash, memberLabel } from '../../../lambda/identity/member.ts';
import { keyOf, subkeyOf } from '../../../lambda/settings/secrets.ts';
import type { TokenGroup } from '../../../operator/keys/token-log.ts';
import { salt, startKeysProgram } from './keys-program.ts';

const { runOn, runJson, close } = await startKeysProgram();
afterAll(close);

const none = { withoutUsage: 0, input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 };
const much = { input: 201_024, cacheRead: 200_000, cacheWrite: 1_000, output: 80, reasoning: 60 };

test('shows tokens and costs by key and by member, with their names', async () => {
  const wallet = '0x52908400098527886E0F7030069857D2E4169EE7';
  const issue = () => runJson('issue', '--member', wallet);
  const [first, second] = [await issue(), await issue()];
  const member = memberHash(subkeyOf(keyOf(salt), memberLabel), wallet);
  const groups: readonly TokenGroup[] = [
    { key: second.id, member, counts: { ...none, answers: 1, withoutUsage: 1 } },
    { key: undefined, member: undefined, counts: { ...none, answers: 1, input: 70, output: 1 } },
    { key: first.id, member, counts: { ...none, answers: 2, ...much } },
  ];
  const run = (...words: string[]) => runOn({ readTokens: async () => groups }, 'usage', '--tokens', ...words);
  const price = ['--price', '3,15,0.3,3.75'];
  const report = JSON.parse(await run('--days', '1', ...price, '--json'));
  // 12 fresh tokens at 3, 100,000 from the cache at 0.3, 500 written there at 3.75 and 40 at 15, twice.
  const cost = (2 * (12 * 3 + 100_000 * 0.3 + 500 * 3.75 + 40 * 15)) / 1e6;
  expect(report.keys).toMatchObject([
    { key: first.id, member: wallet, answers: 2, ...much, cost },
    { key: null, member: null, memberHash: null, answers: 1, input: 70, output: 1 },
    { key: second.id, member: wallet, answers: 1, withoutUsage: 1, input: 0, cost: 0 },
  ]);
  expect(report.members).toMatchObject([
    { member: wallet, answers: 3, withoutUsage: 1, ...much, cost },
    { member: null },
  ]);
  expect(report.total).toMatchObject({ answers: 4, withoutUsage: 1, input: 201_094, output: 81 });

  const text = await run(...price);
  const lines = text.split('\n').map((line) => line.split(/ {2,}/));
  expect(lines).toContainEqual([first.id, wallet, '2', '0', '201024', '200000', '1000', '80', '60', '$0.0650']);
  expect(text).toContain('4 answers from ');
  expect(text).toContain('1 of them did not report their tokens.');
  expect(await run()).not.toContain('$');
  // With prices the dearest come first, even if others have more tokens.
  const { keys } = JSON.parse(await run('--price', '1,0,0,0', '--json'));
  expect(keys.map(({ key }: TokenGroup) => key)).toEqual([null, first.id, second.id]);
});

test('it says so if CloudWatch leaves something out', async () => {
  const groups = Array.from({ length: 10_000 }, (_, index) => ({
    ...{ key: `key_${index}`, member: undefined },
    counts: { ...none, answers: 1 },
  }));
  expect(await runOn({ readTokens: async () => groups }, 'usage', '--tokens')).toMatch(/\nCloudWatch gives 10000 rows/);
  expect(await runOn({ readTokens: async () => [] }, 'usage', '--tokens')).not.toContain('CloudWatch');
});
