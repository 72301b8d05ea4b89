import { expect, test } from '@jest/globals';
import { settleSpending } from '../../../lambda/forward/settle.ts';
import type { Charge } from '../../../lambda/quota/quota.ts';
import type { Outcome, RequestSoFar } from '../../../lambda/request/request.ts';

const price = { input: 1_000_000, output: 1_000_000, cacheRead: 1_000_000, cacheWrite: 1_000_000 };
const prices = new Map([['svc', price]]);

/** What is settled for a request with a prompt of 100 tokens whose client has gone after so many tries. */
async function settledAfter(tries: number) {
  const settled: number[] = [];
  const settle = async (spent: number) => void settled.push(spent);
  const outcome: Outcome = { end: 'client_gone', exchange: { tries, usage: {} } };
  const figures = { limit: 1, remaining: 0 };
  const charge = { figures, refund: settle, settle, figuresAfter: () => figures } as unknown as Charge;
  const request = { call: { model: { id: 'svc', kind: 'text' } }, charge, inputTokens: 100, outcome };
  await settleSpending(request as unknown as RequestSoFar, { prices, spendLimit: undefined });
  return { settled, spending: outcome.spending };
}

test('a client that leaves before anything was sent owes nothing, and after that its prompt', async () => {
  expect(await settledAfter(0)).toEqual({ settled: [0], spending: { cost: 0, savedByCaches: 0 } });
  const { settled, spending } = await settledAfter(1);
  expect(settled).toEqual([spending?.cost]);
  expect(spending?.cost).toBeGreaterThan(0);
});
