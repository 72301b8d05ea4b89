import { describe, expect, test } from '@jest/globals';
import middy from '@middy/core';
import { createDialects } from '../../../lambda/dialects/index.ts';
import { GatewayError } from '../../../lambda/http/errors.ts';
import type { GatewayRequest, GatewayResponse } from '../../../lambda/http/gateway-request.ts';
import { createRouter } from '../../../lambda/http/routes.ts';
import { chargeQuota } from '../../../lambda/middleware/charge-quota.ts';
import type { Figures } from '../../../lambda/quota/refusal.ts';
import { UpstreamFailure } from '../../../lambda/upstream/failure.ts';

const router = createRouter(createDialects({ signsThinking: false }));
const charged: Figures = { limit: 3, remaining: 2 };
const refunded: Figures = { limit: 3, remaining: 3 };
const answer: GatewayResponse = { statusCode: 500, headers: {}, body: '' };

/** A request through nothing but this middleware, with what it counted and what the answer would show. */
async function run(path: string, outcome: () => GatewayResponse) {
  const counts = { charges: 0, refunds: 0, bursts: 0 };
  const request: GatewayRequest = {
    id: 'req_1',
    route: router.route({ method: 'POST', path, headers: {} }),
    headers: {},
    bodySize: () => 2,
    takeBody: async () => '{}',
    networkId: 'n',
    startedAt: 0,
    deadline: 1,
    clientGone: undefined,
    coldStart: false,
    identity: { kind: 'guest', networkId: 'n' },
  };
  const quota = {
    charge: async () => {
      counts.charges += 1;
      const refund = async () => {
        counts.refunds += 1;
        return refunded;
      };
      return { figures: charged, refund };
    },
    checkBurst: async () => {
      counts.bursts += 1;
    },
    readFigures: async () => refunded,
    unreadFigures: () => refunded,
  };
  const pipeline = middy<GatewayRequest, GatewayResponse>({ timeoutEarlyInMillis: 0 })
    .onError(() => answer)
    .use(chargeQuota({ quota }))
    .handler(outcome);
  await Reflect.apply(pipeline, undefined, [request, {}]);
  return { ...counts, shown: request.figures };
}

const fail = (error: unknown) => (): GatewayResponse => {
  throw error;
};

describe('charging the quota', () => {
  test.each<[string, () => GatewayResponse, number]>([
    ['an answer', () => answer, 0],
    ['a failure of the upstream', fail(new UpstreamFailure('unreachable')), 1],
    ['what the upstream says is the caller’s fault', fail(new UpstreamFailure('caller', { status: 422 })), 0],
    ['a body that the gateway refuses', fail(new GatewayError('invalid_request', 'no')), 0],
    ['a fault of the gateway', fail(new TypeError('oh')), 1],
    ['a fault that is no error', fail('oh'), 1],
  ])('%s', async (_name, outcome, refunds) => {
    const shown = refunds === 1 ? refunded : undefined;
    expect(await run('/v1/responses', outcome)).toEqual({ charges: 1, refunds, bursts: 0, shown });
  });

  test('counting tokens is never charged, so there is nothing to refund', async () => {
    const counted = await run('/v1/messages/count_tokens', fail(new UpstreamFailure('unreachable')));
    expect(counted).toEqual({ charges: 0, refunds: 0, bursts: 1, shown: undefined });
  });
});
