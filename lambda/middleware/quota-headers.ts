import type { GatewayRequest } from '../gateway-request.ts';
import type { Quota } from '../quota/charge.ts';
import { QuotaRefusal } from '../quota/refusal.ts';
import type { Middleware, PipelineRequest } from './middleware.ts';

/** Finds the figures for the quota headers: what the charge left, or what the table says of the caller. */
export function quotaHeaders({ quota }: { quota: Quota }): Middleware {
  const read = ({ identity, networkId }: GatewayRequest) => quota.readFigures(identity ?? { kind: 'guest', networkId });

  return {
    after: async ({ event: request }: PipelineRequest) => {
      request.figures ??= request.charge?.figures ?? (await read(request));
    },
    onError: async ({ event: request, error }: PipelineRequest) => {
      const known = error instanceof QuotaRefusal ? error.figures : request.charge?.figures;
      request.figures ??= known ?? (await read(request));
    },
  };
}
