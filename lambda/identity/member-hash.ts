import { createHmac, type KeyObject } from 'node:crypto';

/** A member as the log names it: a keyed hash, because a member may be the address of a wallet. */
export function memberHash(secret: KeyObject, member: string): string {
  return createHmac('sha256', secret).update(member).digest('base64url').slice(0, 22);
}

/** The label of the subkey for it. */
export const memberLabel = 'members';

const remembered = 10_000;

/** The same, cached for members that come again. */
export function createMemberHash(
  readSubkey: (label: string) => Promise<KeyObject>,
): (member: string) => Promise<string> {
  const known = new Map<string, string>();
  return async (member) => {
    const hash = known.get(member) ?? memberHash(await readSubkey(memberLabel), member);
    if (known.size >= remembered) known.clear();
    known.set(member, hash);
    return hash;
  };
}
