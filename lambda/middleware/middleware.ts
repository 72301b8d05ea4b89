import type { MiddlewareObj, Request } from '@middy/core';
import type { GatewayRequest, GatewayResponse } from '../http/gateway-request.ts';

/** A step of a pipeline: it works on the one growing request. */
export type Middleware = MiddlewareObj<GatewayRequest, GatewayResponse>;
export type PipelineRequest = Request<GatewayRequest, GatewayResponse>;
