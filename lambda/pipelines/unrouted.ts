import { preflightHeaders } from '../http/cors.ts';
import type { GatewayRequest, GatewayResponse } from '../http/gateway-request.ts';
import { pipeline } from '../http/pipeline.ts';
import { quotaHeaders } from '../middleware/quota-headers.ts';
import { renderErrors } from '../middleware/render-errors.ts';
import type { Pipeline, PipelineDependencies } from './pipeline.ts';

/** Requests that need no key: preflights, health checks, unknown paths, wrong methods. */
export function createUnroutedPipeline(dependencies: Pick<PipelineDependencies, 'names' | 'quota'>): Pipeline {
  return pipeline([renderErrors(dependencies), quotaHeaders(dependencies)], answer);
}

async function answer({ route, headers }: GatewayRequest): Promise<GatewayResponse> {
  if (route.kind === 'refused') throw route.error;
  return { statusCode: 204, headers: route.kind === 'preflight' ? preflightHeaders(headers) : {}, body: '' };
}
