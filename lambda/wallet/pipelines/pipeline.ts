import type { HeaderNames } from '../../http/gateway-headers.ts';
import type { GatewayResponse } from '../../http/gateway-request.ts';
import type { WalletLog } from '../log.ts';
import type { Sessions } from '../sessions.ts';
import type { WalletRequest } from '../wallet-request.ts';

/** Answers a request, also after an error. */
export type Pipeline = (request: WalletRequest) => Promise<GatewayResponse>;

export interface PipelineDependencies {
  readonly log: WalletLog;
  readonly sessions: Sessions;
  readonly names: Pick<HeaderNames, 'error'>;
}
