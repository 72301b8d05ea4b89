import { createHmac, type KeyObject } from 'node:crypto';
import { cacheValue } from './lookup-cache.ts';

/** How the log names a member: a keyed hash, because a member may be a wallet address. */
export function memberHash(secret: KeyObject, member: string): string {
  return createHmac('sha256', secret).update(member).digest('base64url').slice(0, 22);
}

export type HashMember = (member: string) => Promise<string>;

/** The same with a cache: hashing takes longer than looking up a cached key. */
export function createHashMember(readSecret: () => Promise<KeyObject>): HashMember {
  const known = new Map<string, string>();
  return async (member) => {
    const remembered = known.get(member);
    if (remembered !== undefined) return remembered;
    const hashed = memberHash(await readSecret(), member);
    cacheValue(known, member, hashed);
    return hashed;
  };
}

/** The label of the subkey that members are hashed with for the log. */
export const memberLabel = 'members';

/** The member id of an account at an OIDC provider. `secret`: the subkey labelled `accountLabel`. */
export function accountMember(secret: KeyObject, issuer: string, subject: string): string {
  return `oidc:${createHmac('sha256', secret).update(`${issuer}\n${subject}`).digest('base64url')}`;
}

export const accountLabel = 'members of OpenID Connect';

/** Whether a member is a wallet address. Anyone can create any number of wallets for free. */
export const isWallet = (member: string): boolean => !member.startsWith('oidc:');
