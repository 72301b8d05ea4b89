import { describe, expect } from '@jest/globals';
import { empty, html, json } from '../../local/upstream/script.ts';
import type { FakeUpstream } from '../support/fake-upstream.ts';
import { testRows } from '../support/test-rows.ts';
import { startWatchedGateway, type WatchedGateway } from '../support/watched-gateway.ts';
import { wire } from '../support/wire.ts';

const good = json(200, wire.chat.answer);
const start = Date.UTC(2026, 5, 15, 12, 0, 0);

/** A gateway whose first upstream has these keys, on a clock that the test moves. */
async function startWithKeys(...keys: string[]) {
  const clock = { now: start };
  const environment = { UPSTREAM_API_KEYS: keys.map((key) => `upstream-key-${key}`).join(',') };
  const watched = await startWatchedGateway({ environment, now: () => clock.now });
  const { upstream } = watched.gateway;
  upstream.otherwise(good);
  // Which key this conversation goes to first, and which next: a 403 moves on, and lets nothing rest.
  if (keys.length > 1) upstream.answer(html(403));
  await succeeds(watched);
  const ranking = [...new Set([...upstream.requests.map(keyOf), ...keys])];
  let seen = upstream.requests.length;
  return Object.assign(watched, {
    clock,
    /** The keys that the upstream has seen since the last call, by rank: `a` comes first. */
    keys(): string {
      const ranks = upstream.requests.slice(seen).map((request) => 'abc'.charAt(ranking.indexOf(keyOf(request))));
      seen = upstream.requests.length;
      return ranks.join('');
    },
  });
}

const keyOf = ({ headers }: FakeUpstream['requests'][number]) =>
  String(headers.authorization).replace('Bearer upstream-key-', '');

const succeeds = async (watched: WatchedGateway) =>
  expect(await watched.ask('chat')).toMatchObject({ status: 200, charged: 1, line: { end: 'complete' } });

describe('several keys', () => {
  testRows([
    [401, undefined, 60],
    [429, '5', 5],
    [429, 'Mon, 15 Jun 2026 11:00:00 GMT', 0],
  ])('after a refusal one rests for a while, and the next is tried', async (status, retryAfter, seconds) => {
    await using watched = await startWithKeys('a', 'b');
    watched.gateway.upstream.answer(empty(status, retryAfter === undefined ? {} : { 'retry-after': retryAfter }));
    await succeeds(watched);
    expect(watched.keys()).toBe('ab');
    if (seconds > 0) {
      watched.clock.now += seconds * 1000 - 1;
      for (let round = 0; round < 4; round += 1) await succeeds(watched);
      expect(watched.keys()).toBe('bbbb');
      watched.clock.now += 1;
    }
    for (let round = 0; round < 4; round += 1) await succeeds(watched);
    expect(watched.keys()).toBe('aaaa');
  });
});
