import { expect, test } from '@jest/globals';
import { GatewayError } from '../../../lambda/errors.ts';
import type { Identity } from '../../../lambda/identity/identify.ts';
import type { Tallies } from '../../../lambda/quota/counter-store.ts';
import { createDeploymentLimit } from '../../../lambda/quota/deployment-limit.ts';
import { testRows } from '../../support/test-rows.ts';

const guest: Identity = { kind: 'guest', networkId: 'net' };
const member: Identity = { kind: 'member', member: 'ada' };
const charge = {
  figures: { limit: 50, remaining: 49 },
  refund: async () => ({ limit: 50, remaining: 50 }),
  settle: async () => undefined,
};

/** Tallies that record their calls. Those of the whole deployment are full; refunds wait for the test. */
function watchTallies() {
  const asked: string[] = [];
  const refunds: PromiseWithResolvers<void>[] = [];
  const tallies: Tallies = {
    async add(item) {
      asked.push(item);
      return item.startsWith('daily_limit') ? undefined : 1;
    },
    addAmount: async () => {},
    read: async () => Number.MAX_SAFE_INTEGER,
    async subtract(item) {
      const refund = Promise.withResolvers<void>();
      refunds.push(refund);
      await refund.promise;
      asked.push(`refund ${item}`);
    },
  };
  return { asked, refunds, tallies };
}

function startLimit(tallies: Tallies, firstByte: number, onLost: (error: unknown, name: string) => void = () => {}) {
  const limit = createDeploymentLimit({
    ...{ dailyLimit: 80, guestDailyLimit: 80, tallies, onLost },
    createToken: () => Buffer.from([firstByte, 200, 200]).toString('base64'),
    now: () => Date.UTC(2026, 0, 1, 12),
  });
  if (!limit) throw new Error('no limit is set');
  return limit;
}

test('a guest learns of the refusal only after its count among the guests was taken back', async () => {
  const { asked, refunds, tallies } = watchTallies();
  let ended = false;
  const counting = startLimit(tallies, 0)
    .count(guest, charge)
    .catch(() => {
      ended = true;
    });
  while (refunds.length === 0) await Promise.resolve();
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
  expect(ended).toBe(false);
  refunds[0]?.resolve();
  await counting;
  expect(ended).toBe(true);
  expect(asked.filter((item) => item.startsWith('refund guest_daily_limit#'))).toHaveLength(1);
});

testRows([
  [new GatewayError('service_unavailable', 'x', { reason: 'answer_lost' }), ['daily_limit']],
  [new GatewayError('service_unavailable', 'x', { reason: 'store' }), []],
  [Object.assign(new Error('x'), { reason: 'answer_lost' }), []],
])('a count is reported as left standing only if the answer to it was lost', async (error, said) => {
  const { tallies } = watchTallies();
  const lost: string[] = [];
  const limit = startLimit({ ...tallies, add: () => Promise.reject(error) }, 0, (_, name) => lost.push(name));
  await expect(limit.count(member, charge)).rejects.toThrow('x');
  expect(lost).toEqual(said);
});
