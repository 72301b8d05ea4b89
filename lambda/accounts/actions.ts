import type { AccountAnswers } from './account-answers.ts';
import type { Account, Info, ShownTerminal } from './answers.ts';
import { isTooManyKeys, type Keyring } from './keyring.ts';
import type { Limits } from './limits.ts';
import type { AccountsLog } from './log.ts';
import { type AccountsRequest, readLabel, readText, type SignedIn, type WithInput } from './request.ts';
import type { Terminals } from './terminals.ts';

interface ActionDependencies {
  readonly accounts: AccountAnswers;
  readonly keyring: Keyring;
  readonly limits: Limits;
  readonly terminals: Terminals;
  readonly serviceName: string;
  readonly contextWindow: number | undefined;
  readonly memberLimit: number;
  /** The gateway's address, unless it is the page's own. */
  readonly gatewayUrl: string | undefined;
  readonly waysToSignIn: Info['signIn'];
  readonly log: AccountsLog;
}

type SignedInRequest = AccountsRequest & WithInput & SignedIn;

export type Actions = ReturnType<typeof createActions>;

/** What the page calls, however a person has signed in. */
export function createActions(dependencies: ActionDependencies) {
  const { accounts, keyring, limits, terminals, log } = dependencies;
  return {
    /** The facts that the page shows before anyone signs in. */
    async info({ network, site }: AccountsRequest): Promise<Info> {
      const { serviceName, contextWindow, memberLimit, gatewayUrl = site.baseUrl, waysToSignIn: signIn } = dependencies;
      return { serviceName, gatewayUrl, contextWindow, memberLimit, network: network.name, signIn };
    },

    list: (request: SignedInRequest): Promise<Account> => accounts.describe(request, request.member),

    async issue(request: SignedInRequest): Promise<Account> {
      const { input, network, member } = request;
      const label = readLabel(input);
      // Checked first, so that only a race for the last place needs an undo.
      await keyring.requireFreeSlot(member);
      const grant = await limits.countGrant(network.id, member);
      try {
        return await accounts.issue(request, member, label);
      } catch (error) {
        if (isTooManyKeys(error)) await grant.undo();
        throw error;
      }
    },

    async revoke(request: SignedInRequest): Promise<Account> {
      const { input, member } = request;
      const id = readText(input, 'id');
      await keyring.revoke(member, id);
      log.revoked(request, { keyId: id });
      return accounts.describe(request, member);
    },

    findTerminal: ({ input, network }: SignedInRequest): Promise<ShownTerminal> =>
      terminals.find(readText(input, 'code'), network.id),

    async approveTerminal({ input, network, member }: SignedInRequest): Promise<object> {
      await terminals.approve(readText(input, 'code'), network.id, member);
      return {};
    },

    async denyTerminal({ input, network }: SignedInRequest): Promise<object> {
      await terminals.deny(readText(input, 'code'), network.id);
      return {};
    },
  };
}
