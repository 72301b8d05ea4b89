import type { GatewayError } from '../errors.ts';
import { createRender, describeCause } from '../report/log.ts';
import type { Measured } from '../report/metrics.ts';
import { brokenSignIn, codeOf } from './errors.ts';
import type { AccountsRequest } from './request.ts';

export type AccountsLog = ReturnType<typeof createAccountsLog>;

interface Dependencies {
  readonly write: (line: string) => void;
  readonly now: () => number;
  readonly metricsNamespace: string;
}

/** The operators' log. No line holds a key, or the address of a wallet or network. */
export function createAccountsLog({ write, now, metricsNamespace }: Dependencies) {
  const render = createRender(metricsNamespace);
  const line = (level: string, message: string, fields: object, measured?: Measured) =>
    write(render(now(), level, message, fields, measured));
  const describe = ({ id, route, network }: AccountsRequest) => ({ requestId: id, route, network: network.id });
  return {
    /** An environment has started. */
    started: (commit: string) => line('info', 'started', { commit }),
    refused(request: AccountsRequest, error: GatewayError) {
      const { status, reason, cause } = error;
      const fields = { ...describe(request), status, code: codeOf(error), reason, ...describeCause(cause) };
      // The company's sign-in may be down without the gateway's doing.
      if (reason === brokenSignIn) line('error', 'refused', fields, { signInsFailed: 1 });
      else if (status >= 500) line('error', 'refused', fields, { gatewayErrors: 1 });
      else line('info', 'refused', fields);
    },
    done: (what: 'granted' | 'revoked', request: AccountsRequest, fields: { link?: true; keyId?: string }) =>
      line('info', what, { ...describe(request), ...fields }),
    /** A secret could not be read again; its last known value stays in use. */
    secretNotRefreshed: (cause: unknown) =>
      line('warn', 'secret not refreshed', describeCause(cause), { secretsNotRefreshed: 1 }),
  };
}
