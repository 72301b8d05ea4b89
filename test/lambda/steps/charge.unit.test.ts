import { describe, expect, test } from '@jest/globals';
import { createDialects } from '../../../lambda/dialects/index.ts';
import { GatewayError, stopping } from '../../../lambda/errors.ts';
import { createPipeline } from '../../../lambda/pipeline.ts';
import type { Figures } from '../../../lambda/quota/refusal.ts';
import type { GatewayResponse } from '../../../lambda/request/call.ts';
import type { ArrivedAtInference, Identified, Outcome, RequestSoFar } from '../../../lambda/request/request.ts';
import { createRouter } from '../../../lambda/request/routes.ts';
import { chargeQuota, quotaHeaders } from '../../../lambda/steps/charge.ts';
import { outage } from '../../../lambda/tables/table.ts';
import { UpstreamFailure } from '../../../lambda/upstream/failure.ts';
import { callWith } from '../../support/call.ts';
import { testRows } from '../../support/test-rows.ts';

const findRoute = createRouter(createDialects({ signsThinking: false, streamUsage: false }));
const charged: Figures = { limit: 3, remaining: 2 };
const refunded: Figures = { limit: 3, remaining: 3 };
const answer: GatewayResponse = { statusCode: 500, headers: {}, body: '' };

interface Given {
  readonly refundRefusals?: boolean;
  /** Whether the store takes no refund. */
  readonly refundFails?: boolean;
  /** How often the request has gone upstream. */
  readonly tries?: number;
}

/** A request through only this step, with its counts and the figures for the answer. */
async function run(path: string, handle: () => GatewayResponse, given: Given = {}) {
  const counts = { charges: 0, refunds: 0, bursts: 0 };
  const route = findRoute({ method: 'POST', path, headers: {} });
  if (route.kind !== 'inference') throw new Error(`${path} is no inference endpoint`);
  const outcome: Outcome = { exchange: { tries: given.tries ?? 0, usage: {} } };
  const request = {
    ...{ id: 'req_1', method: 'POST', path, route, outcome },
    ...callWith({ body: '{}' }),
    ...{ networkId: 'n', startedAt: 0, deadline: 1, coldStart: false },
    identity: { kind: 'guest', networkId: 'n' } as const,
    memberHash: undefined,
  };
  let told: string | undefined;
  const quota = {
    charge: async () => {
      counts.charges += 1;
      const refund = async () => {
        counts.refunds += 1;
        return given.refundFails ? undefined : refunded;
      };
      return { figures: charged, refund, settle: async () => undefined };
    },
    checkBurst: async () => {
      counts.bursts += 1;
    },
    readUsage: () => Promise.reject(new Error('nobody asks')),
    readFigures: async () => refunded,
    unreadFigures: () => refunded,
  };
  const answerRequest = createPipeline<ArrivedAtInference & Identified, RequestSoFar, GatewayResponse>((_, error) => {
    told = error instanceof Error ? error.message : undefined;
    return answer;
  })
    .step(chargeQuota({ quota, refundRefusals: given.refundRefusals ?? false }))
    .handler(async () => handle());
  await answerRequest(request);
  return { ...counts, shown: counts.refunds > 0 ? outcome.figures : undefined, told };
}

const fail = (error: unknown) => (): GatewayResponse => {
  throw error;
};

const unreachable = new UpstreamFailure('unreachable');
const refusal = new GatewayError('invalid_request', 'no');

describe('charging the quota', () => {
  testRows<[string, () => GatewayResponse, number, string | undefined]>([
    ['an answer', () => answer, 0, undefined],
    [
      'a failure of the upstream',
      fail(unreachable),
      1,
      'The model could not be reached. This request was not charged. Please try again.',
    ],
    [
      'what the upstream says is the caller’s fault',
      fail(new UpstreamFailure('caller', { status: 422 })),
      0,
      undefined,
    ],
    ['a body that the gateway refuses', fail(refusal), 0, 'no. This request was charged; 2 requests are left.'],
    [
      'a fault of the gateway',
      fail(new TypeError('oh')),
      1,
      'Something went wrong inside the gateway. This request was not charged. Please try again.',
    ],
    ['a fault that is no error', fail('oh'), 1, undefined],
  ])('is refunded for what is not the caller’s fault', async (_name, outcome, refunds, told) => {
    const shown = refunds === 1 ? refunded : undefined;
    const ended = await run('/v1/responses', outcome);
    expect(ended).toMatchObject({ charges: 1, refunds, bursts: 0 });
    expect(ended.shown).toBe(shown);
    if (told !== undefined) expect(ended.told).toBe(told);
  });

  test('a refund that may not have been written is not announced', async () => {
    const given = { refundFails: true, refundRefusals: true };
    for (const error of [unreachable, refusal]) {
      expect(await run('/v1/responses', fail(error), given)).toMatchObject({ refunds: 1, told: error.message });
    }
  });

  test('a body that the gateway refuses is refunded if the operator says so', async () => {
    const given = { refundRefusals: true };
    const told = 'no. This request was not charged; 3 requests are left.';
    expect(await run('/v1/responses', fail(refusal), given)).toMatchObject({ refunds: 1, shown: refunded, told });
  });

  test('a request that went upstream is charged, whatever the operator says', async () => {
    for (const refundRefusals of [false, true]) {
      const ended = await run('/v1/responses', fail(refusal), { refundRefusals, tries: 1 });
      expect(ended).toMatchObject({ refunds: 0, told: 'no' });
    }
  });

  test('counting tokens is never charged, so there is nothing to refund or to announce', async () => {
    for (const error of [unreachable, refusal]) {
      const counted = await run('/v1/messages/count_tokens', fail(error), { refundRefusals: true });
      expect(counted).toEqual({ charges: 0, refunds: 0, bursts: 1, shown: undefined, told: error.message });
    }
  });
});

describe('the figures of an answer that nothing was charged for', () => {
  const busy = new GatewayError('service_unavailable', 'no room');

  testRows<[string, GatewayError, 'read' | 'unread']>([
    ['a failed store', outage('down', false), 'unread'],
    ['a failed store, to be refunded', outage('down', true).refunded(), 'unread'],
    ['a failed store, with a note', outage('down', true).withNote('Not charged.'), 'unread'],
    ['a process that stops', stopping(), 'unread'],
    ['a busy gateway', busy, 'read'],
    ['a busy gateway, to be refunded', busy.refunded(), 'read'],
    ['a refusal', refusal, 'read'],
    ['a failure of the upstream', new UpstreamFailure('limited'), 'read'],
  ])('are read unless the store or the process is gone', async (_name, error, expected) => {
    const read: Figures = { limit: 3, remaining: 1 };
    const unread: Figures = { limit: 3, remaining: 0 };
    const quota = {
      charge: async () => Promise.reject(error),
      checkBurst: async () => {},
      readUsage: () => Promise.reject(new Error('nobody asks')),
      readFigures: async () => read,
      unreadFigures: () => unread,
    };
    const outcome: Outcome = {};
    const request = { networkId: 'n', outcome } as RequestSoFar;
    expect(await quotaHeaders({ quota }).onError?.(request, error)).toBe(error);
    expect(outcome.figures).toBe(expected === 'read' ? read : unread);
  });
});
