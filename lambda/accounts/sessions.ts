import { hash } from 'node:crypto';
import type { MemberStore } from '../tables/members.ts';
import { accountsError } from './errors.ts';

/** How long a person stays signed in, in milliseconds. */
const lifetime = 15 * 60_000;

export type Sessions = ReturnType<typeof createSessions>;

interface Dependencies {
  readonly members: Pick<MemberStore, 'putSession' | 'findSession' | 'wasSignedOut'>;
  readonly now: () => number;
  readonly randomBytes: (size: number) => Buffer;
}

/** Keeps a person who has signed once signed in for a while. Only a hash of the token is stored. */
export function createSessions({ members, now, randomBytes }: Dependencies) {
  return {
    async open(member: string) {
      // Given only to the page, which keeps it as long as it is open.
      const token = `lts_${randomBytes(32).toString('base64url')}`;
      const expiresAt = now() + lifetime;
      await members.putSession(hash('sha256', token), { member, expiresAt });
      return { token, expiresAt };
    },

    /** The member who is signed in, by the header `Authorization: Bearer TOKEN`. */
    async findMember(authorization = ''): Promise<string> {
      const token = /^bearer +(lts_[\w-]{43})$/i.exec(authorization)?.[1];
      const session = token === undefined ? undefined : await members.findSession(hash('sha256', token));
      if (session && session.expiresAt > now()) {
        const { member, expiresAt } = session;
        if (!(await members.wasSignedOut(member, expiresAt - lifetime))) return member;
      }
      const message = 'You are not signed in, or your session is over. Please sign in again.';
      throw accountsError('invalid_session', message);
    },
  };
}
