import { GatewayError, toGatewayError } from '../errors.ts';
import { settleCharge } from '../forward/settle.ts';
import type { DeploymentLimit } from '../quota/deployment-limits.ts';
import type { Quota } from '../quota/quota.ts';
import { QuotaRefusal } from '../quota/refusal.ts';
import { areOver } from '../quota/snapshot.ts';
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

/** Charges the request, and refunds it if the upstream or the gateway fails before an answer has begun. */
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

/** Counts a charged request towards the limits of the whole deployment. Comes after the charge, which a refusal here refunds. */
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
 * Reads the figures for the quota headers in the caller's counter, where no charge and no refusal has brought them, or the day or the
 * budget's period has ended since.
 */
export function quotaHeaders({
  quota,
  now,
}: {
  readonly quota: Quota;
  readonly now: () => number;
}): GatewayStep<Arrived> {
  const isMissing = ({ outcome: { snapshot } }: RequestSoFar) => snapshot === undefined || areOver(snapshot, now());
  const callerOf = ({ identity, networkId }: RequestSoFar) => identity ?? ({ kind: 'guest', networkId } as const);
  return {
    after: async (request) => {
      if (isMissing(request)) request.outcome.snapshot = await quota.readSnapshot(callerOf(request));
    },
    onError: async (request, error) => {
      const { outcome } = request;
      if (error instanceof QuotaRefusal) outcome.snapshot ??= error.snapshot;
      // The client has waited once for a store that failed, and a process that ends has no time to wait.
      const mayRead = !(error instanceof GatewayError) || error.source === undefined;
      if (!isMissing(request)) return error;
      outcome.snapshot = await (mayRead ? quota.readSnapshot : quota.unreadSnapshot)(callerOf(request));
      return error;
    },
  };
}
