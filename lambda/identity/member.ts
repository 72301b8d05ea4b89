import { createHmac, type KeyObject } from 'node:crypto';
import { keep } from './remember.ts';

/** A member as the log names it: a keyed hash, because a member may be the address of a wallet. */
export function memberHash(secret: KeyObject, member: string): string {
  return createHmac('sha256', secret).update(member).digest('base64url').slice(0, 22);
}

export type HashMember = (member: string) => Promise<string>;

/** The same for requests, which remember it: it takes longer than to find the member. */
export function createHashMember(readSecret: () => Promise<KeyObject>): HashMember {
  const known = new Map<string, string>();
  return async (member) => {
    const remembered = known.get(member);
    if (remembered !== undefined) return remembered;
    const hashed = memberHash(await readSecret(), member);
    keep(known, member, hashed);
    return hashed;
  };
}

/** The label of the salt's subkey that members are hashed with for the log. */
export const memberLabel = 'members';

/** The member that an account at an OpenID provider is. `secret`: the subkey with the label `accountLabel`. */
export function accountMember(secret: KeyObject, issuer: string, subject: string): string {
  return `oidc:${createHmac('sha256', secret).update(`${issuer}\n${subject}`).digest('base64url')}`;
}

export const accountLabel = 'members of OpenID Connect';

/** Whether a member is the address of a wallet, which anyone can make any number of out of nothing. */
export const isWallet = (member: string): boolean => !member.startsWith('oidc:');
