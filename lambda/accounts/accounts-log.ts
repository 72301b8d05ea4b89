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
    /** A process has started. */
    started: (commit: string) => line('info', 'started', { commit }),
    refused(request: AccountsRequest, error: GatewayError) {
      const { status, reason, cause } = error;
      const fields = { ...describe(request), status, code: codeOf(error), reason, ...describeCause(cause) };
      // Not a gateway error: the OIDC provider may be down.
      if (reason === brokenSignIn) line('error', 'refused', fields, { signInsFailed: 1 });
      else if (status >= 500) line('error', 'refused', fields, { gatewayErrors: 1 });
      else line('info', 'refused', fields);
    },
    done: (what: 'granted' | 'revoked', request: AccountsRequest, fields: { link?: true; keyId?: string }) =>
      line('info', what, { ...describe(request), ...fields }),
    /** The OIDC userinfo endpoint failed. The id token decides alone, even if it lacks needed claims. */
    claimsNotRead: (cause: unknown, isNeeded: boolean) =>
      line('warn', 'claims not read', describeCause(cause), isNeeded ? { signInsFailed: 1 } : {}),
    /** A secret could not be refreshed; its last value stays in use. */
    secretNotRefreshed: (cause: unknown) =>
      line('warn', 'secret not refreshed', describeCause(cause), { secretsNotRefreshed: 1 }),
  };
}
