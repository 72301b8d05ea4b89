import { expect, test } from '@jest/globals';
import { settle, settleSpending } from '../../../lambda/forward/settle.ts';
import type { Charge } from '../../../lambda/quota/quota.ts';
import type { Log } from '../../../lambda/report/log.ts';
import type { AttemptRecord, Outcome, RequestSoFar } from '../../../lambda/request/request.ts';
import type { StreamEnd } from '../../../lambda/stream/relay.ts';
import { UpstreamFailure } from '../../../lambda/upstream/failure.ts';
import { testRows } from '../../support/test-rows.ts';
import { turnEventLoop } from '../../support/wait-until.ts';

const price = { input: 1_000_000, output: 1_000_000, cacheRead: 1_000_000, cacheWrite: 1_000_000 };
const prices = new Map([['svc', price]]);

/** A request with a prompt of 100 tokens, and the costs settled for it. */
function createRequest(record: AttemptRecord) {
  const settled: number[] = [];
  const settle = async (spent: number) => void settled.push(spent);
  const outcome: Outcome = { attempt: record };
  const snapshot = { limit: 1, remaining: 0 };
  const charge = { snapshot, refund: settle, settle, snapshotAfter: () => snapshot } as unknown as Charge;
  const request = { parsed: { model: { id: 'svc', kind: 'text' } }, charge, inputTokens: 100, outcome };
  return { request: request as unknown as RequestSoFar, settled, outcome };
}

async function settledAfter(tries: number) {
  const { request, settled, outcome } = createRequest({ tries, usage: {} });
  await settleSpending(request, { prices, spendLimit: undefined });
  return { settled, spending: outcome.spending };
}

test('a client that disconnects before an upstream was asked pays nothing, and after that pays for its prompt', async () => {
  expect(await settledAfter(0)).toEqual({ settled: [0], spending: { cost: 0, savedByCaches: 0 } });
  const { settled, spending } = await settledAfter(1);
  expect(settled).toEqual([spending?.cost]);
  expect(spending?.cost).toBeGreaterThan(0);
});

test('the settlement does not delay an answer: its figures are known at once, and it is written in a later turn', async () => {
  const { request, settled, outcome } = createRequest({ tries: 1, usage: {} });
  const settling = settleSpending(request, { prices, spendLimit: undefined });
  expect(outcome).toMatchObject({ snapshot: { limit: 1, remaining: 0 }, spending: { cost: 100 } });
  // The rest of the turn in which the answer ends.
  await new Promise(process.nextTick);
  expect(settled).toEqual([]);
  await settling;
  expect(settled).toEqual([100]);
});

test('it ends only when the spend limit has been updated too: after that a function may freeze', async () => {
  const { request } = createRequest({ tries: 1, usage: {} });
  const added = Promise.withResolvers<void>();
  const costs: number[] = [];
  const add = (cost: number) => {
    costs.push(cost);
    return added.promise;
  };
  let isOver = false;
  const spendLimit = { add, check: async () => 0 };
  const settling = settleSpending(request, { prices, spendLimit }).then(() => {
    isOver = true;
  });
  await turnEventLoop(5);
  expect([costs, isOver]).toEqual([[100], false]);
  added.resolve();
  await settling;
});

const charged = new UpstreamFailure('cut', { charged: true });

testRows<[end: StreamEnd, tokens: number]>([
  [{ kind: 'complete' }, 10],
  [{ kind: 'client_gone', isWhole: true }, 10],
  [{ kind: 'client_gone', isWhole: false }, 100],
  [{ kind: 'failed', failure: charged }, 100],
])(
  'what an answer counted at its end is believed, and before that only if it is more than the estimate',
  async (end, tokens) => {
    const record: AttemptRecord = { tries: 1, usage: { input: 10 } };
    const { request, settled } = createRequest(record);
    const nobody = { log: {} as Log, refundRefusals: false };
    await settle({ request, record }, end, { prices, spendLimit: undefined, ...nobody });
    expect(settled).toEqual([tokens]);
  },
);
