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

interface Asked {
  readonly plan: RequestPlan;
  readonly seen: Seen;
  readonly say: Say;
}

export type Client = ReturnType<typeof createClient>;

/** A client's end of a connection. If it `stays`, it can be asked by again once its answer is whole. */
export function createClient(peer: Peer, scheduler: Scheduler, stays: boolean) {
  let asked: Asked | undefined;
  let [isOpen, isReading] = [true, true];

  function settle(end: NonNullable<Seen['end']>, request = asked): void {
    if (!request || request !== asked) return;
    const { seen, say } = request;
    asked = undefined;
    [seen.ended, seen.end] = [scheduler.now(), end];
    say(`is done: ${end}`);
    if (end === 'whole' && stays && seen.headers.connection !== 'close') return;
    isOpen = false;
    if (end === 'whole') peer.end();
    if (end === 'left') peer.reset();
  }

  function pause({ plan, seen, say }: Asked): void {
    [seen.pausedAt, seen.bytesBefore] = [scheduler.now(), seen.bytes];
    say('reads no more');
    const read = (reads: boolean) => {
      isReading = reads;
      peer.hold(!reads);
    };
    read(false);
    scheduler.at(plan.pauses, undefined, () => read(true));
  }

  const reader = createHttpReader(
    {
      onHead({ first, headers }) {
        if (!asked) return;
        const { seen, say } = asked;
        [seen.status, seen.headers] = [Number(first.split(' ')[1]), headers];
        seen.answeredAt ??= scheduler.now();
        say(`is answered ${seen.status}`);
      },
      onBody(bytes) {
        if (!asked) return;
        const { plan, seen, say } = asked;
        const isDue = (mark: number) => mark >= 0 && seen.bytes >= mark;
        hear(seen, bytes, scheduler.now());
        say(`gets ${bytes.length} bytes`);
        if (isDue(plan.leavesAt)) settle('left');
        else if (isDue(plan.pausesAt) && seen.pausedAt === undefined) pause(asked);
      },
      onEnd: () => settle('whole'),
    },
    true,
  );
  peer.onBytes = reader.push;
  peer.onEnd = () => {
    if (!reader.end() || asked?.seen.status === undefined) settle('cut');
    isOpen = false;
    peer.end();
  };
  peer.onClose = () => {
    settle('cut');
    isOpen = false;
  };
  return {
    isIdle: () => isOpen && isReading && !asked,
    /** Has it read the answer as the plan says. */
    ask(request: Asked): void {
      asked = request;
      const { leavesAfter } = request.plan;
      if (leavesAfter >= 0) scheduler.at(leavesAfter, undefined, () => settle('left', request));
    },
  };
}
