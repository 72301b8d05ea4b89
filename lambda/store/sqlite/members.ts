import type { DatabaseSync } from 'node:sqlite';
import type { Challenge, Session, Slot } from '../sign-in.ts';
import { withoutNull } from './keys.ts';

/** Sign-in challenges, sessions, and the slots of members' live keys. */
export function createMembers(database: DatabaseSync) {
  const putChallenge = database.prepare(
    'REPLACE INTO challenges (nonce, digest, purpose, expiresAt) VALUES (?, ?, ?, ?)',
  );
  const takeChallenge = database.prepare(`
    UPDATE challenges SET takenBy = $token WHERE nonce = $nonce AND digest = $digest AND purpose = $purpose
    AND expiresAt > $now AND coalesce(takenBy, $token) = $token`);
  const putSession = database.prepare('REPLACE INTO sessions (hash, member, purpose, expiresAt) VALUES (?, ?, ?, ?)');
  const findSession = database.prepare('SELECT member, purpose, expiresAt FROM sessions WHERE hash = ?');
  const signOut = database.prepare('REPLACE INTO signedOut (member, at) VALUES (?, ?)');
  const wasSignedOut = database.prepare('SELECT 1 FROM signedOut WHERE member = ? AND at >= ?');
  const takeSlot = database.prepare('INSERT OR IGNORE INTO slots (member, hash, takenAt) VALUES (?, ?, ?)');
  const freeSlot = database.prepare('DELETE FROM slots WHERE member = ? AND hash = ? AND takenAt = ?');
  const slots = database.prepare('SELECT hash, takenAt FROM slots WHERE member = ?');
  const renew = database.prepare(`
    UPDATE keys SET expiresAt = ?
    WHERE hash = ? AND member = ? AND renewable = 1 AND revokedAt IS NULL AND expiresAt > ?`);
  const revoke = database.prepare('UPDATE keys SET revokedAt = coalesce(revokedAt, ?) WHERE hash = ? AND member = ?');
  const readSlots = (member: string) => slots.all(member) as unknown as Slot[];

  return {
    putChallenge: (nonce: string, { digest, purpose, expiresAt }: Challenge): void =>
      void putChallenge.run(nonce, digest, purpose, expiresAt),
    takeChallenge: (
      nonce: string,
      { digest, purpose }: Omit<Challenge, 'expiresAt'>,
      now: number,
      token: string,
    ): boolean => takeChallenge.run({ token, nonce, digest, purpose, now }).changes > 0,

    putSession: (hash: string, { member, purpose, expiresAt }: Session): void =>
      void putSession.run(hash, member, purpose ?? null, expiresAt),
    findSession(hash: string): Session | undefined {
      const found = findSession.get(hash);
      return found && (withoutNull(found) as unknown as Session);
    },
    signOut: (member: string, now: number): void => void signOut.run(member, now),
    wasSignedOut: (member: string, since: number): boolean => wasSignedOut.get(member, since) !== undefined,

    takeSlot(member: string, { hash, takenAt }: Slot, limit: number): boolean {
      const taken = readSlots(member);
      const isTaken = taken.some((slot) => slot.hash === hash && slot.takenAt === takenAt);
      if (!isTaken && taken.length >= limit) return false;
      takeSlot.run(member, hash, takenAt);
      return true;
    },
    freeSlots(member: string, freed: readonly Slot[]): void {
      for (const { hash, takenAt } of freed) freeSlot.run(member, hash, takenAt);
    },
    readSlots,

    renewKey: (hash: string, member: string, expiresAt: number, now: number): void =>
      void renew.run(expiresAt, hash, member, now),
    revokeKey: (hash: string, member: string, now: number): void => void revoke.run(now, hash, member),
  };
}
