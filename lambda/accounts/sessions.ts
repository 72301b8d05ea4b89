import { hash } from 'node:crypto';
import type { MemberStore } from '../tables/members.ts';
import { sessionLifetime } from './limits.ts';
import { AccountsError } from './request.ts';

export interface OpenSession {
  /** Given only to the page, which keeps it as long as it is open. */
  readonly token: string;
  readonly expiresAt: number;
}

export type Sessions = ReturnType<typeof createSessions>;

interface Dependencies {
  readonly store: Pick<MemberStore, 'putSession' | 'findSession' | 'wasSignedOut'>;
  readonly now: () => number;
  readonly randomBytes: (size: number) => Buffer;
}

/** Keeps a person who has signed once signed in for a while. Only a hash of the token is stored. */
export function createSessions({ store, now, randomBytes }: Dependencies) {
  return {
    async open(member: string): Promise<OpenSession> {
      const token = `lts_${randomBytes(32).toString('base64url')}`;
      const expiresAt = now() + sessionLifetime;
      await store.putSession(hash('sha256', token), { member, expiresAt });
      return { token, expiresAt };
    },
    /** The member who is signed in, by the header `Authorization: Bearer TOKEN`. */
    async findMember(authorization = ''): Promise<string> {
      const token = /^bearer +(lts_[\w-]{43})$/i.exec(authorization)?.[1];
      const session = token === undefined ? undefined : await store.findSession(hash('sha256', token));
      if (session && session.expiresAt > now()) {
        const { member, expiresAt } = session;
        if (!(await store.wasSignedOut(member, expiresAt - sessionLifetime))) return member;
      }
      throw new AccountsError(
        'invalid_session',
        'You are not signed in, or your session is over. Please sign in again.',
      );
    },
  };
}
