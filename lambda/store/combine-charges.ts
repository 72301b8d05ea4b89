import type { ChargeResult, Counters, CounterWindow } from '../quota/counters.ts';
import { nextToken } from '../quota/token.ts';
import { isTooSlow, outage } from './time-limit.ts';

/*
 * Charges that arrive while a write for their counter is under way share the next write, so the busier a caller is, the less
 * each charge costs. Each is granted or refused as if they had come one by one, in order:
 *
 * - A write counts all of its charges or none, and never more than the last answer left room for. If it is refused, it is sent
 *   again with fewer charges.
 * - When a write finds no room, only callers who were waiting before it was sent are refused.
 * - If the outcome of a write is unknown, it is unknown for each of its charges: either all of them stand, or none.
 * - The time limit of callers who wait behind a write has not started. If that write takes too long, they are refused too,
 *   uncharged.
 */

/** The counter after a write, or at its refusal. */
export interface Counted {
  readonly applied: boolean;
  readonly used: number;
  readonly inMinute: number;
}

/** Counts `charges` charges in one write: all of them, or none. */
export type CountCharges = (window: CounterWindow, token: string, charges: number) => Promise<Counted>;

interface Caller extends PromiseWithResolvers<ChargeResult> {
  readonly window: CounterWindow;
  token: string;
}

export function combineCharges(countCharges: CountCharges): Counters['charge'] {
  /** The callers waiting for each counter, including those of the current write. An entry exists only while there are any. */
  const queues = new Map<string, Caller[]>();

  const serve = async (name: string, queue: Caller[]): Promise<void> => {
    let room = Number.POSITIVE_INFINITY;
    for (let first = queue[0]; first; first = queue[0]) {
      const present = queue.length;
      const charges = Math.max(1, Math.min(present, room));
      const { window } = queue[charges - 1] ?? first;
      try {
        const counted = await countCharges(window, first.token, charges);
        const newcomers = queue.length - present;
        room = Math.min(window.limit - counted.used, window.burst - counted.inMinute);
        if (counted.applied) grant(queue.splice(0, charges), counted);
        else if (charges === 1) refuse(queue.splice(0, 1), counted);
        else {
          room = Math.min(room, charges - 1);
          first.token = nextToken(first.token);
        }
        if (room <= 0) refuse(queue.splice(0, queue.length - newcomers), counted);
      } catch (error) {
        fail(queue.splice(0, charges), error);
        if (isTooSlow(error)) fail(queue.splice(0), outage(error, false));
      }
    }
    queues.delete(name);
  };

  return (window, token) => {
    const caller = { window, token, ...Promise.withResolvers<ChargeResult>() };
    const name = nameOf(window);
    const queue = queues.get(name);
    if (queue) queue.push(caller);
    else {
      const alone = [caller];
      queues.set(name, alone);
      void serve(name, alone);
    }
    return caller.promise;
  };
}

/** Charges with the same name can share a write. Their expiry may differ: the last one's is the latest, and is written. */
function nameOf({ item, minute, limit, burst }: CounterWindow): string {
  return [item, minute, limit, burst].join(' ');
}

function grant(callers: readonly Caller[], { used }: Counted): void {
  for (const [index, caller] of callers.entries()) {
    caller.resolve({ granted: true, used: used - callers.length + index + 1 });
  }
}

function refuse(callers: readonly Caller[], { used, inMinute }: Counted): void {
  for (const { window, resolve } of callers) {
    // A minute's count never falls. So if it is below the burst limit now, the quota was the reason, even if a refund has made
    // room since.
    const isBurst = inMinute >= window.burst && used < window.limit;
    resolve({ granted: false, used, reason: isBurst ? 'burst' : 'quota' });
  }
}

function fail(callers: readonly Caller[], error: unknown): void {
  for (const { reject } of callers) reject(error);
}
