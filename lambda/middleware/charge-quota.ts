import { toGatewayError } from '../http/errors.ts';
import type { Quota } from '../quota/charge.ts';
import type { Middleware, PipelineRequest } from './middleware.ts';

/** Charges the request, and gives the charge back where the upstream or the gateway failed before there was an answer. */
export function chargeQuota({ quota }: { quota: Quota }): Middleware {
  return {
    before: async ({ event: request }: PipelineRequest) => {
      if (request.identity === undefined || request.route.kind !== 'inference') return;
      if (request.route.endpoint.charged) request.charge = await quota.charge(request.identity);
      else await quota.checkBurst(request.identity);
    },
    onError: async ({ event: request, error }: PipelineRequest) => {
      if (!request.charge || !toGatewayError(error).refund) return;
      request.figures = await request.charge.refund();
      request.refunded = request.figures !== undefined;
    },
  };
}
