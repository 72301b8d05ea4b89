import { describe, expect, test } from '@jest/globals';
import { callerName, createMemberHash, shareFindings } from '../../../lambda/identity/identify.ts';
import { keyOf } from '../../../lambda/settings/secrets.ts';

test('a caller’s name includes its kind, so that no network has a member’s name', () => {
  expect(callerName({ kind: 'member', member: 'ada', keyId: 'key_1' })).toBe('member ada');
  expect(callerName({ kind: 'guest', networkId: 'ada' })).toBe('network ada');
});

test('hashes of members are kept for ten thousand of them', async () => {
  let made = 0;
  const hashOf = createMemberHash(async () => {
    made += 1;
    return keyOf('a salt of the operator');
  });
  const first = await hashOf('member 0');
  for (let number = 1; number <= 9_999; number += 1) await hashOf(`member ${number}`);
  expect([await hashOf('member 0'), made]).toEqual([first, 10_000]);
  // The one that was asked for longest ago goes.
  await hashOf('one more');
  await hashOf('member 0');
  expect(made).toBe(10_001);
  await hashOf('member 1');
  expect(made).toBe(10_002);
});

describe('shareFindings', () => {
  test('asks once for simultaneous look-ups, and again for later ones', async () => {
    let looks = 0;
    const find = shareFindings(async (name: string) => {
      looks += 1;
      return `${name} ${looks}`;
    });
    expect(await Promise.all([find('a'), find('a'), find('b')])).toEqual(['a 1', 'a 1', 'b 2']);
    expect(await find('a')).toBe('a 3');
  });

  test('does not share that nothing was found, because it may exist by now', async () => {
    const looks: ((found: string | undefined) => void)[] = [];
    const find = shareFindings((_name: string) => new Promise<string | undefined>((resolve) => looks.push(resolve)));
    const [early, late] = [find('a'), find('a')];
    looks[0]?.(undefined);
    expect(await early).toBeUndefined();
    looks[1]?.('made meanwhile');
    expect(await late).toBe('made meanwhile');
  });

  test('shares a failure', async () => {
    const find = shareFindings(() => Promise.reject(new Error('planted')));
    await expect(Promise.all([find('a'), find('a')])).rejects.toThrow('planted');
  });
});
