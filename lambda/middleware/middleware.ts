import type { GatewayRequest, GatewayResponse } from '../http/gateway-request.ts';
import type { Step, StepRequest } from '../http/pipeline.ts';

/** A step of a pipeline: it works on the one growing request. */
export type Middleware = Step<GatewayRequest, GatewayResponse>;
export type PipelineRequest = StepRequest<GatewayRequest, GatewayResponse>;
