import type { MiddlewareObj, Request } from '@middy/core';
import type { GatewayResponse } from '../../http/gateway-request.ts';
import type { WalletRequest } from '../wallet-request.ts';

/** A step of a pipeline: it works on the one growing request. */
export type Middleware = MiddlewareObj<WalletRequest, GatewayResponse>;
export type PipelineRequest = Request<WalletRequest, GatewayResponse>;
