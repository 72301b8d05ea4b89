import type { GatewayError } from '../errors.ts';
import { createWriteLine, describeCause, type LogDependencies } from '../report/log.ts';
import { brokenSignIn, codeOf } from './page-errors.ts';
import type { AccountsRequest } from './page-request.ts';

export type AccountsLog = ReturnType<typeof createAccountsLog>;

/** The operators' log. No line holds a key, or the address of a wallet or network. */
export function createAccountsLog(dependencies: LogDependencies) {
  const line = createWriteLine(dependencies);
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
    /** The company's sign-in does not tell what it left out of its token, so that decides alone, even if it lacks what is needed. */
    claimsNotRead: (cause: unknown, isNeeded: boolean) =>
      line('warn', 'claims not read', describeCause(cause), isNeeded ? { signInsFailed: 1 } : {}),
    /** A secret could not be read again; its last known value stays in use. */
    secretNotRefreshed: (cause: unknown) =>
      line('warn', 'secret not refreshed', describeCause(cause), { secretsNotRefreshed: 1 }),
  };
}
