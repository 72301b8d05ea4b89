import { describe, expect, test } from '@jest/globals';
import { createReadScrubber } from '../../../lambda/hiding/read-scrubber.ts';
import { createScrubber } from '../../../lambda/hiding/scrub.ts';
import { UpstreamFailure } from '../../../lambda/upstream/failure.ts';
import { type Candidate, canRenew, createPool } from '../../../lambda/upstream/pool.ts';
import { testRows } from '../../support/test-rows.ts';
import { upstreamNamed, upstreamOfThree } from '../../support/upstream-named.ts';

/** A pool with a fake clock: `{ UPSTREAM: 'ab' }` is one upstream with two keys, ranked as the caller's name says. */
function poolOf(keys: Readonly<Record<string, string>>) {
  const clock = { now: 0 };
  const pool = createPool({
    upstreams: Object.keys(keys).map(upstreamNamed),
    readAccess: async ({ prefix }) => ({ keys: [...(keys[prefix] ?? '')], headers: {}, secretHeaders: {} }),
    rankKeys: async (ranked, { caller }) => [...ranked].sort((a, b) => caller.indexOf(a) - caller.indexOf(b)),
    now: () => clock.now,
  });
  const nameOf = ({ upstream, key }: Candidate) => `${upstream.prefix.replace('UPSTREAM', '')}${key}`;
  const candidates = (ranking: string) => pool.candidates({ caller: ranking, traits: [] }, () => true);
  const own = async (ranking: string) => (await candidates(ranking)).filter(({ isOwn }) => isOwn).map(nameOf);
  const order = async (ranking = 'abcxy') => (await candidates(ranking)).map(nameOf);
  const rest = async (name: string, retryAfter?: number) => {
    const candidate = (await candidates('abcxy')).find((one) => nameOf(one) === name);
    if (!candidate) throw new Error(`${name} is nobody's key`);
    pool.rest(candidate, new UpstreamFailure('limited', { retryAfter }));
  };
  /** This caller meets a failure of `a`: whether several have by now. */
  const meets = async (caller: string) => {
    const [candidate] = await candidates('a');
    return candidate && pool.isMetBySeveral(candidate, caller);
  };
  const next = async (but?: string) => (await pool.next(({ prefix }) => prefix !== but))?.prefix;
  return { clock, order, own, rest, meets, next };
}

test('the conversation ranks the keys of each upstream', async () => {
  const { order } = poolOf({ UPSTREAM: 'abc', UPSTREAM_2: 'xy' });
  expect(await order('bcayx')).toEqual(['b', 'c', 'a', '_2y', '_2x']);
});

test('a resting key moves its own conversations and nobody else’s, and they come back', async () => {
  const { order, rest, clock } = poolOf({ UPSTREAM: 'abc' });
  await rest('a');
  expect(await order('acb')).toEqual(['c', 'b', 'a']);
  expect(await order('bac')).toEqual(['b', 'c', 'a']);
  clock.now = 60_000;
  expect(await order('acb')).toEqual(['a', 'c', 'b']);
});

testRows([
  [3, 3_000],
  [601, 600_000],
  [undefined, 60_000],
])('a key with a Retry-After rests for that long', async (retryAfter, time) => {
  const { order, rest, clock } = poolOf({ UPSTREAM: 'ab' });
  await rest('a', retryAfter);
  clock.now = time - 1;
  expect(await order()).toEqual(['b', 'a']);
  clock.now = time;
  expect(await order()).toEqual(['a', 'b']);
});

test('resting keys come in the order of their upstreams, and within one the longest rested first', async () => {
  const { order, rest } = poolOf({ UPSTREAM: 'abc', UPSTREAM_2: 'xy' });
  for (const name of ['_2y', 'c', '_2x', 'a', 'b']) await rest(name);
  expect(await order()).toEqual(['c', 'a', 'b', '_2y', '_2x']);
  await rest('c'); // tried, and rate limited again
  expect(await order()).toEqual(['a', 'b', 'c', '_2y', '_2x']);
});

test('a conversation’s own key is the first of the first upstream with keys, even while it rests', async () => {
  const { own, rest } = poolOf({ UPSTREAM: 'abc', UPSTREAM_2: 'xy' });
  await rest('b');
  expect([await own('bacxy'), await own('acbyx')]).toEqual([['b'], ['a']]);
  expect(await poolOf({ UPSTREAM: '', UPSTREAM_2: 'xy' }).own('yx')).toEqual(['_2y']);
});

test('the next upstream is the first that can answer and has a key that does not rest', async () => {
  const { next, rest, clock } = poolOf({ UPSTREAM: '', UPSTREAM_2: 'ab', UPSTREAM_3: 'x' });
  await rest('_2a');
  expect(await next()).toBe('UPSTREAM_2');
  expect(await next('UPSTREAM_2')).toBe('UPSTREAM_3');
  await rest('_2b');
  expect(await next()).toBe('UPSTREAM_3');
  clock.now = 60_000;
  expect(await next()).toBe('UPSTREAM_2');
});

test('a key shared by two upstreams rests only at the one that rejects it', async () => {
  const { order, rest } = poolOf({ UPSTREAM: 'a', UPSTREAM_2: 'a' });
  await rest('a');
  expect(await order()).toEqual(['_2a', 'a']);
});

test('a candidate lists every secret that its upstream is sent, short or long', async () => {
  const { candidates } = createPool({
    upstreams: [upstreamNamed('UPSTREAM')],
    readAccess: async () => ({ keys: ['k'], headers: { 'x-a': 'known' }, secretHeaders: { 'x-token': 't' } }),
    rankKeys: async (keys) => keys,
    now: () => 0,
  });
  expect(await candidates({ caller: 'me', traits: [] }, () => true)).toMatchObject([{ secrets: ['k', 't'] }]);
});

test('an upstream with tokens stands for all of them: another token makes it neither rest less nor another account', async () => {
  const clock = { now: 0, token: 'first' };
  const upstream = { ...upstreamNamed('UPSTREAM'), tokenRegion: 'us-east-1' };
  const { candidates, rest, renew } = createPool({
    upstreams: [upstream, upstreamNamed('UPSTREAM_2')],
    readAccess: async ({ prefix }, refused) => {
      if (refused === clock.token) clock.token = 'second';
      return { keys: [prefix === 'UPSTREAM' ? clock.token : 'k'], headers: {}, secretHeaders: {} };
    },
    rankKeys: async (keys) => keys,
    now: () => clock.now,
  });
  const find = () => candidates({ caller: 'me', traits: [] }, () => true);
  const [first] = await find();
  if (!first) throw new Error('there is no candidate');
  expect(canRenew(first)).toBe(true);
  const renewed = await renew(first);
  expect(renewed).toMatchObject({ key: 'second', secrets: ['second'], isOwn: true });
  expect(renewed && (await renew(renewed))).toBeUndefined();
  rest(first, new UpstreamFailure('credentials'));
  expect((await find()).map(({ key }) => key)).toEqual(['k', 'second']);
});

describe('the secrets that an upstream is sent', () => {
  const long = 'key-'.repeat(50);
  const readScrubber = (...read: string[][]) => {
    const accesses = read.map((keys) => ({
      keys,
      headers: {},
      secretHeaders: { 'x-token': 'Bearer the-token-of-the-team' },
    }));
    const hide = (names: readonly string[]) => createScrubber(names, 'svc');
    const next = async () => {
      const access = accesses.length > 1 ? accesses.shift() : accesses[0];
      if (!access) throw new Error('nothing to read');
      return access;
    };
    return createReadScrubber([upstreamOfThree], ['AcmeCorp'], next, hide);
  };

  test('are hidden like names', async () => {
    const { scrub } = await readScrubber(['sk-0123456789abcdef', long, 'none'])();
    expect(scrub('AcmeCorp: sk-0123456789abcdef, the-token-of-the-team, Bearer')).toBe('svc: svc, svc, Bearer');
    // Short enough to be a word.
    expect(scrub('none of these')).toBe('none of these');
    expect(scrub(`${long}.`)).toBe('svcsvc.');
  });

  test('are the current ones', async () => {
    const read = readScrubber(['first-key-of-the-team'], ['second-key-of-the-team']);
    expect((await read()).scrub('first-key-of-the-team')).toBe('svc');
    const second = await read();
    expect(second.scrub('first-key-of-the-team second-key-of-the-team')).toBe('first-key-of-the-team svc');
    expect(await read()).toBe(second);
  });

  test('also for requests that arrive while the scrubber is being created', async () => {
    const read = readScrubber(['first-key-of-the-team'], ['second-key-of-the-team']);
    await read();
    const both = await Promise.all([read(), read()]);
    expect(both.map(({ scrub }) => scrub('second-key-of-the-team'))).toEqual(['svc', 'svc']);
  });

  test('are prepared once for concurrent requests, and again if that failed', async () => {
    let tries = 0;
    const create = () => {
      tries += 1;
      if (tries === 1) throw new Error('not this time');
      return tries;
    };
    const access = { keys: ['first-key-of-the-team'], headers: {}, secretHeaders: {} };
    const read = createReadScrubber([upstreamOfThree], [], async () => access, create);
    await expect(read()).rejects.toThrow('not this time');
    expect(await Promise.all([read(), read()])).toEqual([2, 2]);
    expect(await read()).toBe(2);
  });
});

test('three callers within five minutes count as several, a single caller never does', async () => {
  const { meets, clock } = poolOf({ UPSTREAM: 'ab' });
  const seen: (boolean | undefined)[] = [];
  for (const caller of ['one', 'one', 'one', 'two', 'one', 'three', 'four']) seen.push(await meets(caller));
  expect(seen).toEqual([false, false, false, false, false, true, true]);
  clock.now = 299_999;
  expect(await meets('five')).toBe(true);
  clock.now += 300_000;
  expect([await meets('six'), await meets('seven'), await meets('eight')]).toEqual([false, false, true]);
});
