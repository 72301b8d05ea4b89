import type { ChargeResult, Counters, CounterWindow } from '../quota/counters.ts';
import { nextToken } from '../quota/token.ts';
import { isTooSlow, outage } from './time-limit.ts';

/*
 * Charges of one counter that come while a write for it is on its way leave together in the next one, so that a charge costs
 * the less the busier its caller is. Each is granted or refused as if they had come one by one, in their order:
 *
 * - A write counts all of its charges or none, and no more than there was room for when last heard of. One that is refused
 *   is sent anew with fewer.
 * - Who is refused was there before the write was sent that found no room.
 * - Where nobody knows what became of a write, nobody knows it of any of its charges: one stands for each, or none.
 * - Who waits behind a write is not on the clock yet. Where that write took too long, they are refused with it, uncharged.
 */

/** What the counter held after a write, or when it refused one. */
export interface Counted {
  readonly applied: boolean;
  readonly used: number;
  readonly inMinute: number;
}

/** Counts so many charges in one write: all of them, or none. */
export type CountCharges = (window: CounterWindow, token: string, charges: number) => Promise<Counted>;

interface Caller extends PromiseWithResolvers<ChargeResult> {
  readonly window: CounterWindow;
  token: string;
}

export function combineCharges(countCharges: CountCharges): Counters['charge'] {
  /** All who wait for a counter, those on their way included; there while there is one. */
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

/** Charges that are counted alike. When they expire makes no difference: the last one's time is the latest. */
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
    // A minute's count never falls: where it is below the burst limit now, the quota was what refused, even if a refund has
    // made room since.
    const isBurst = inMinute >= window.burst && used < window.limit;
    resolve({ granted: false, used, reason: isBurst ? 'burst' : 'quota' });
  }
}

function fail(callers: readonly Caller[], error: unknown): void {
  for (const { reject } of callers) reject(error);
}
