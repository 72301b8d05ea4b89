import type { GatewayResponse } from '../../http/gateway-request.ts';
import type { Step, StepRequest } from '../../http/pipeline.ts';
import type { WalletRequest } from '../wallet-request.ts';

/** A step of a pipeline: it works on the one growing request. */
export type Middleware = Step<WalletRequest, GatewayResponse>;
export type PipelineRequest = StepRequest<WalletRequest, GatewayResponse>;
