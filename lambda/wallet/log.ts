import { describeCause } from '../log.ts';
import type { toShownError } from './wallet-error.ts';
import type { WalletRequest } from './wallet-request.ts';

/** What an operator reads of this function. Nothing here holds a key, a wallet's address or a network's. */
export interface WalletLog {
  refused(request: WalletRequest, error: ReturnType<typeof toShownError>): void;
  granted(request: WalletRequest, grant: { readonly link?: true; readonly keyId?: string }): void;
  revoked(request: WalletRequest, key: { readonly keyId: string }): void;
  /** Something that an operator may have to look into. */
  warn(message: string, error: unknown): void;
}

interface Dependencies {
  readonly write: (line: string) => void;
  readonly now: () => number;
}

/** Structured lines, one JSON object each. */
export function createWalletLog({ write, now }: Dependencies): WalletLog {
  const line = (level: string, message: string, fields: object): void => {
    write(`${JSON.stringify({ time: new Date(now()).toISOString(), level, message, ...fields })}\n`);
  };
  const describe = ({ id, route, network }: WalletRequest) => ({ requestId: id, route, network: network.id });
  return {
    refused(request, error) {
      const { status, code, cause } = error;
      const level = status >= 500 ? 'error' : 'info';
      line(level, 'refused', { ...describe(request), status, code, ...describeCause(cause) });
    },
    granted: (request, grant) => line('info', 'granted', { ...describe(request), ...grant }),
    revoked: (request, key) => line('info', 'revoked', { ...describe(request), ...key }),
    warn: (message, error) => line('warn', message, describeCause(error)),
  };
}
