import { describe, expect } from '@jest/globals';
import { GatewayError, stopping, toGatewayError } from '../../../lambda/errors.ts';
import { settleCharge } from '../../../lambda/forward/settle.ts';
import type { QuotaSnapshot } from '../../../lambda/quota/snapshot.ts';
import type { Outcome, RequestSoFar } from '../../../lambda/request/request.ts';
import { quotaHeaders } from '../../../lambda/steps/charge.ts';
import { outage } from '../../../lambda/store/errors.ts';
import { UpstreamFailure } from '../../../lambda/upstream/failure.ts';
import { testRows } from '../../support/test-rows.ts';

interface Given {
  readonly refundRefusals?: boolean;
  /** Whether refunds fail. */
  readonly refundFails?: boolean;
  /** How often the request has gone upstream. */
  readonly tries?: number;
}

const refunded: QuotaSnapshot = { limit: 3, remaining: 3 };
const unreachable = new UpstreamFailure('unreachable');
const refusal = new GatewayError('invalid_request', 'no');

const not = 'This request was not charged';
const was = 'This request was charged';

testRows<[error: unknown, given: Given, refunds: number, told: string]>([
  [unreachable, {}, 1, `The model could not be reached. ${not}. Please try again.`],
  // The upstream's own message is passed through.
  [new UpstreamFailure('caller'), { tries: 1 }, 0, `The model refused this request. ${was}.`],
  [
    new UpstreamFailure('deadline'),
    { tries: 1 },
    0,
    `The answer took longer than one request may take. ${was}. Ask for a shorter one.`,
  ],
  [refusal, {}, 0, `no. ${was}; 2 requests are left.`],
  [refusal, { refundRefusals: true }, 1, `no. ${not}; 3 requests are left.`],
  [refusal, { refundRefusals: true, tries: 1 }, 0, `no. ${was}.`],
  [new TypeError(), {}, 1, `Something went wrong inside the gateway. ${not}. Please try again.`],
  // A refund that may not have been written is not announced.
  [unreachable, { refundFails: true }, 1, unreachable.message],
  [refusal, { refundRefusals: true, refundFails: true }, 1, 'no'],
])(
  'a charge is refunded for what is not the caller’s fault',
  async (error, { refundRefusals = false, refundFails = false, tries = 0 }, refunds, told) => {
    let given = 0;
    const refund = async () => {
      given += 1;
      return refundFails ? undefined : refunded;
    };
    const charge = { snapshot: { limit: 3, remaining: 2 }, refund, settle: async () => undefined };
    const outcome: Outcome = { attempt: { tries, usage: {} } };
    const request = { charge, outcome } as unknown as RequestSoFar;
    const { message } = await settleCharge(request, toGatewayError(error), refundRefusals);
    const isWritten = refunds > 0 && !refundFails;
    expect([message, given, outcome.snapshot]).toEqual([told, refunds, isWritten ? refunded : undefined]);
    expect(outcome.refunded ?? false).toBe(isWritten);
    const free = toGatewayError(error);
    expect(await settleCharge({ outcome } as RequestSoFar, free, true)).toBe(free);
  },
);

describe('the quota headers of a response without a charge', () => {
  const busy = new GatewayError('service_unavailable', 'no room');

  testRows<[GatewayError, 'read' | 'unread']>([
    [outage('down', false), 'unread'],
    [outage('down', true).refunded(), 'unread'],
    [outage('down', true).withNote('Not charged.'), 'unread'],
    [stopping(), 'unread'],
    [busy, 'read'],
    [busy.refunded(), 'read'],
    [refusal, 'read'],
  ])('are read unless the store or the process is gone', async (error, expected) => {
    const read: QuotaSnapshot = { limit: 3, remaining: 1 };
    const unread: QuotaSnapshot = { limit: 3, remaining: 0 };
    const quota = {
      charge: async () => Promise.reject(error),
      checkBurst: async () => {},
      readUsage: () => Promise.reject(new Error('nobody asks')),
      readSnapshot: async () => read,
      unreadSnapshot: () => unread,
    };
    const outcome: Outcome = {};
    const request = { networkId: 'n', outcome } as RequestSoFar;
    expect(await quotaHeaders({ quota, now: () => 0 }).onError?.(request, error)).toBe(error);
    expect(outcome.snapshot).toBe(expected === 'read' ? read : unread);
  });
});
