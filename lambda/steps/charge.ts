import { GatewayError, toGatewayError } from '../errors.ts';
import { settleCharge } from '../forward/settle.ts';
import type { DeploymentLimit } from '../quota/deployment-limits.ts';
import type { Quota } from '../quota/quota.ts';
import { QuotaRefusal } from '../quota/refusal.ts';
import { isExpired } from '../quota/snapshot.ts';
import type {
  Arrived,
  ArrivedAtInference,
  Charged,
  GatewayStep,
  Identified,
  ReadingStarted,
  RequestSoFar,
} from '../request/request.ts';

interface Charging {
  readonly quota: Quota;
  readonly refundRefusals: boolean;
}

/**
 * Charges the request against the caller's quota, budget and burst limit. Token counting is free and only checks the burst limit.
 *
 * Needs: `identity` and `cost`. Adds: `charge`. Fails: 429 `quota_exceeded` or `rate_limited`, 503 if the store is down.
 * On a later error: refunds the charge if the upstream or the gateway failed before the response began.
 */
export function chargeQuota({
  quota,
  refundRefusals,
}: Charging): GatewayStep<ArrivedAtInference & Identified & ReadingStarted, Charged> {
  return {
    before: async ({ id, route, identity, cost, outcome }) => {
      if (route.endpoint.countsTokens) {
        await quota.checkBurst(identity);
        return { charge: undefined };
      }
      const charge = await quota.charge(identity, id, cost);
      outcome.snapshot = charge.snapshot;
      return { charge };
    },
    onError: (request, error) => settleCharge(request, toGatewayError(error), refundRefusals),
  };
}

/**
 * Counts the request against the daily limits of the whole deployment.
 *
 * Needs: `identity` and `charge`. Adds: a `charge` whose refund also undoes these counts, and `limitsUsed`.
 * Fails: 503 `service_unavailable` if a limit is reached or the store is down; the caller's charge is then refunded.
 */
export function limitDeployment({
  deploymentLimit,
}: {
  /** Undefined if the operator has set none. */
  readonly deploymentLimit: DeploymentLimit | undefined;
}): GatewayStep<Identified & Charged, Charged> {
  return {
    before: async ({ identity, charge }) => {
      if (charge === undefined || deploymentLimit === undefined) return { charge };
      const counted = await deploymentLimit.count(identity, charge);
      return { charge: counted.charge, limitsUsed: counted.used };
    },
  };
}

/**
 * Makes sure that every response can carry quota headers. Reads the caller's counter only if no charge or refusal has brought a
 * snapshot, or if the day or the budget period has ended since.
 *
 * Needs: nothing; comes first, so that it sees every outcome. Adds: nothing to the request; sets `outcome.snapshot`.
 * Never fails: without a store, it shows the limit and 0 remaining.
 */
export function quotaHeaders({
  quota,
  now,
}: {
  readonly quota: Quota;
  readonly now: () => number;
}): GatewayStep<Arrived> {
  const isMissing = ({ outcome: { snapshot } }: RequestSoFar) => snapshot === undefined || isExpired(snapshot, now());
  const callerOf = ({ identity, networkId }: RequestSoFar) => identity ?? ({ kind: 'guest', networkId } as const);
  return {
    after: async (request) => {
      if (isMissing(request)) request.outcome.snapshot = await quota.readSnapshot(callerOf(request));
    },
    onError: async (request, error) => {
      const { outcome } = request;
      if (error instanceof QuotaRefusal) outcome.snapshot ??= error.snapshot;
      // The client has already waited for a failing store once, and a process that is shutting down has no time.
      const mayRead = !(error instanceof GatewayError) || error.source === undefined;
      if (!isMissing(request)) return error;
      outcome.snapshot = await (mayRead ? quota.readSnapshot : quota.unreadSnapshot)(callerOf(request));
      return error;
    },
  };
}
