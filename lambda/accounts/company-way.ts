import type { AccountAnswers } from './account-answers.ts';
import type { Account } from './answers.ts';
import type { CompanySignIn } from './company-sign-in.ts';
import type { Keyring } from './keyring.ts';
import type { Limits } from './limits.ts';
import { badRequest, readText, type WithInput } from './request.ts';
import type { Way } from './ways.ts';

interface Dependencies {
  readonly signIn: CompanySignIn;
  readonly accounts: AccountAnswers;
  readonly keyring: Keyring;
  readonly limits: Limits;
}

export const ofCompany = (config: { oidcKeys: number; oidcKeyDays: number }): Pick<Way, 'owns' | 'rules'> => ({
  owns: (member) => member.startsWith('oidc:'),
  rules: { keysAllowed: config.oidcKeys, keyLifetime: config.oidcKeyDays * 86_400_000, byNetwork: false },
});

/** Signs in with the company's account, by OpenID Connect. The page makes state and verifier, and keeps them in its tab. */
export function createCompanyWay(
  own: Pick<Way, 'owns' | 'rules'>,
  { signIn, accounts, keyring, limits }: Dependencies,
): Way {
  return {
    ...own,
    actions: {
      async 'oidc/begin'({ input }) {
        return { url: await signIn.begin({ ...readState(input), challenge: readSecret(input, 'challenge') }) };
      },

      async 'oidc/redeem'(request): Promise<Account> {
        const { input, network } = request;
        const answer = new URLSearchParams(readText(input, 'answer', longestAnswer));
        const made = { ...readState(input), verifier: readSecret(input, 'verifier') };
        // Anyone can make up answers, and each is a request to the provider. A whole office may sign in at nine.
        const attempt = await limits.countSignIn(network.id);
        const { member, ...person } = await signIn.redeem(answer, made);
        await attempt.undo();
        return { ...(await accounts.open(request, member)), person };
      },
    },
    memberActions: {
      /** Starts the lifetime of keys anew: the person has just shown that they are still let in. */
      async 'keys/renew'(request): Promise<Account> {
        const { input, member } = request;
        for (const id of readIds(input)) await keyring.renew(member, id);
        return accounts.describe(request, member);
      },
    },
  };
}

/** Codes are short, but some providers make them of a whole session. */
const longestAnswer = 8_192;

type Input = WithInput['input'];

const readState = (input: Input) => ({ state: readSecret(input, 'state'), nonce: readSecret(input, 'nonce') });

/** What the page made at random: 256 bits, or a hash. */
function readSecret(input: Input, name: string): string {
  const text = readText(input, name);
  if (/^[\w-]{43}$/.test(text)) return text;
  throw badRequest(`${name} must be 43 letters, digits, - or _.`);
}

function readIds({ ids }: Input): readonly string[] {
  const isList = Array.isArray(ids) && ids.length <= 100 && ids.every((id) => typeof id === 'string');
  if (isList) return ids;
  throw badRequest('ids must be a list of the ids of keys.');
}
