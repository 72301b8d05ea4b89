import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import type { PendingDevice } from '../sign-in.ts';
import { withoutNull } from './keys.ts';

/** Pending device codes, and the user codes that point to them. */
export function createDeviceFlow(database: DatabaseSync) {
  const putTerminal = database.prepare(
    'REPLACE INTO terminals (device, networkId, askedAt, expiresAt) VALUES (?, ?, ?, ?)',
  );
  const putCode = database.prepare(`
    INSERT INTO userCodes (code, device, expiresAt) VALUES ($userCode, $device, $expiresAt)
    ON CONFLICT DO UPDATE SET device = $device, expiresAt = $expiresAt
    WHERE userCodes.expiresAt <= $now OR userCodes.device = $device`);
  const tryCode = database.prepare(`
    UPDATE terminals SET tries = tries + 1
    WHERE device = (SELECT device FROM userCodes WHERE code = ?) AND tries < ? RETURNING *`);
  const findTerminal = database.prepare('SELECT * FROM terminals WHERE device = ?');
  const notePoll = database.prepare('UPDATE terminals SET polledAt = ? WHERE device = ?');
  const decide = database.prepare(`
    UPDATE terminals SET decision = $decision, approvedBy = $member, decidedAt = $now, decidedBy = $token
    WHERE device = $device AND expiresAt > $now AND coalesce(decidedBy, $token) = $token`);
  const takeKey = database.prepare(`
    UPDATE terminals SET takenBy = $token
    WHERE device = $device AND expiresAt > $now AND coalesce(takenBy, $token) = $token`);

  return {
    put(userCode: string, { device, networkId, askedAt, expiresAt }: PendingDevice, now: number): boolean {
      putTerminal.run(device, networkId, askedAt, expiresAt);
      return putCode.run({ userCode, device, expiresAt, now }).changes > 0;
    },
    findByUserCode: (userCode: string, mostTries: number) => toDevice(tryCode.get(userCode, mostTries)),
    find: (device: string) => toDevice(findTerminal.get(device)),
    notePoll: (device: string, now: number): void => void notePoll.run(now, device),
    decide: (device: string, approvedBy: string | undefined, now: number, token: string): boolean =>
      decide.run({
        decision: approvedBy ? 'approved' : 'denied',
        member: approvedBy ?? null,
        now,
        token,
        device,
      }).changes > 0,
    take: (device: string, now: number, token: string): boolean => takeKey.run({ token, device, now }).changes > 0,
  };
}

const toDevice = (row: Record<string, SQLOutputValue> | undefined): PendingDevice | undefined =>
  row && (withoutNull(row) as unknown as PendingDevice);
