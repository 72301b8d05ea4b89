import { type GatewayError, toGatewayError } from '../http/errors.ts';
import type { GatewayRequest } from '../http/gateway-request.ts';
import type { Quota } from '../quota/charge.ts';
import { sayWhatIsLeft } from '../quota/refusal.ts';
import type { Middleware, PipelineRequest } from './middleware.ts';

interface Dependencies {
  readonly quota: Quota;
  /** Whether the gateway's own 400s are refunded. */
  readonly refundRefusals: boolean;
}

/** Charges the request, and refunds it if the upstream or the gateway fails before an answer has begun. */
export function chargeQuota({ quota, refundRefusals }: Dependencies): Middleware {
  return {
    before: async ({ event: request }: PipelineRequest) => {
      if (request.identity === undefined || request.route.kind !== 'inference') return;
      if (request.route.endpoint.charged) request.charge = await quota.charge(request.identity, request.id);
      else await quota.checkBurst(request.identity);
    },
    onError: async (failed: PipelineRequest) => {
      failed.error = await settleCharge(failed.event, toGatewayError(failed.error), refundRefusals);
    },
  };
}

/** Refunds the charge if this error costs nothing. The error returned says what became of the charge, if that is known. */
export async function settleCharge(
  request: GatewayRequest,
  error: GatewayError,
  refundRefusals: boolean,
): Promise<GatewayError> {
  const { charge, exchange } = request;
  if (!charge) return error;
  const isRefusal = error.status === 400 && !exchange?.tries;
  if (!error.refund && !(isRefusal && refundRefusals)) {
    return isRefusal ? error.withNote(`This request was charged; ${sayWhatIsLeft(charge.figures)}.`) : error;
  }
  request.figures = await charge.refund();
  request.refunded = request.figures !== undefined;
  if (!request.figures) return error;
  const left = isRefusal ? `; ${sayWhatIsLeft(request.figures)}` : '';
  return error.withNote(`This request was not charged${left}.`);
}
