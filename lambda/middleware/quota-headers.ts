import { GatewayError } from '../http/errors.ts';
import type { GatewayRequest } from '../http/gateway-request.ts';
import type { Identity } from '../identity/identity.ts';
import type { Quota } from '../quota/charge.ts';
import { QuotaRefusal } from '../quota/refusal.ts';
import type { Middleware, PipelineRequest } from './middleware.ts';

/** Finds the figures for the quota headers: those of the charge, or else those in the caller's counter. */
export function quotaHeaders({ quota }: { quota: Quota }): Middleware {
  const callerOf = ({ identity, networkId }: GatewayRequest): Identity => identity ?? { kind: 'guest', networkId };

  return {
    after: async ({ event: request }: PipelineRequest) => {
      request.figures ??= request.charge?.figures ?? (await quota.readFigures(callerOf(request)));
    },
    onError: async ({ event: request, error }: PipelineRequest) => {
      const known = error instanceof QuotaRefusal ? error.figures : request.charge?.figures;
      // Don't ask a store again that has just failed: the client has waited for it once. A failed upstream or secret has the same
      // code, but refunds.
      const storeFailed = error instanceof GatewayError && error.code === 'service_unavailable' && !error.refund;
      request.figures ??=
        known ?? (storeFailed ? quota.unreadFigures(callerOf(request)) : await quota.readFigures(callerOf(request)));
    },
  };
}
