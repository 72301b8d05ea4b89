import type { Peer } from './connection.ts';
import { createHttpReader } from './http-reader.ts';
import type { RequestPlan } from './plan.ts';
import type { Scheduler } from './scheduler.ts';

/** What a client has seen of its answer. */
export interface Seen {
  /** When it connected, and when nothing more could come. */
  readonly begun: number;
  ended?: number;
  end?: 'whole' | 'cut' | 'left' | 'not connected';
  status?: number;
  answeredAt?: number;
  headers: Readonly<Record<string, string>>;
  readonly body: Buffer[];
  bytes: number;
  /** When something came last, and the longest silence. */
  heard: number;
  silence: number;
  /** When it stopped reading for a while, and what it had got by then. */
  pausedAt?: number;
  bytesBefore?: number;
}

export const newSeen = (begun: number): Seen => ({ begun, headers: {}, body: [], bytes: 0, heard: begun, silence: 0 });

/** Takes a part of the answer. */
export function hear(seen: Seen, bytes: Buffer, now: number): void {
  seen.body.push(bytes);
  seen.bytes += bytes.length;
  seen.silence = Math.max(seen.silence, now - seen.heard);
  seen.heard = now;
}

/** Says what a client does. */
export type Say = (what: string) => void;

/** Has a client read what comes on its connection, as its plan says. */
export function readAnswer(peer: Peer, plan: RequestPlan, seen: Seen, scheduler: Scheduler, say: Say): void {
  const settle = (end: NonNullable<Seen['end']>) => {
    if (seen.ended !== undefined) return;
    [seen.ended, seen.end] = [scheduler.now(), end];
    say(`is done: ${end}`);
    if (end === 'whole') peer.end();
    if (end === 'left') peer.reset();
  };
  const pause = () => {
    [seen.pausedAt, seen.bytesBefore] = [scheduler.now(), seen.bytes];
    say('reads no more');
    peer.hold(true);
    scheduler.at(plan.pauses, undefined, () => peer.hold(false));
  };
  const isDue = (bytes: number) => bytes >= 0 && seen.bytes >= bytes;
  const reader = createHttpReader(
    {
      onHead({ first, headers }) {
        [seen.status, seen.headers] = [Number(first.split(' ')[1]), headers];
        seen.answeredAt ??= scheduler.now();
        say(`is answered ${seen.status}`);
      },
      onBody(bytes) {
        hear(seen, bytes, scheduler.now());
        say(`gets ${bytes.length} bytes`);
        if (isDue(plan.leavesAt)) settle('left');
        else if (isDue(plan.pausesAt) && seen.pausedAt === undefined) pause();
      },
      onEnd: () => settle('whole'),
    },
    true,
  );
  peer.onBytes = reader.push;
  peer.onEnd = () => {
    if (!reader.end() || seen.status === undefined) settle('cut');
    peer.end();
  };
  peer.onClose = () => settle('cut');
  if (plan.leavesAfter >= 0) scheduler.at(plan.leavesAfter, undefined, () => settle('left'));
}
