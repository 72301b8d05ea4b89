import { GatewayError } from '../errors.ts';
import { smallBody } from '../http/bodies.ts';
import type { Memory } from '../request/memory.ts';

/** Divides `bytes` among the requests in flight. Requests with only small buffers share another quarter, reserved for them. */
export function createBodyBudget(bytes: number): { open(): Memory; held(): number } {
  const forAll = createPool(bytes);
  const forSmall = createPool(bytes / 4);

  return {
    held: () => forAll.heldByAll() + forSmall.heldByAll(),
    open() {
      let owner = '';
      let held = 0;
      let pool = forSmall;
      const leave = (bytes = held): void => {
        pool.hold(owner, -bytes);
        held -= bytes;
        if (held === 0) pool = forSmall;
      };
      return {
        claim(network) {
          owner = network;
        },
        take(more, whole = more) {
          const mayUse = (other: Pool) => other === forAll || whole <= smallBody;
          const hasSpace = (other: Pool) => other.has(owner, other === pool ? more : held + more);
          const next = [pool, forAll].find((other) => mayUse(other) && hasSpace(other));
          if (next === undefined) {
            leave();
            throw tooBusy();
          }
          pool.hold(owner, -held);
          held += more;
          pool = next;
          pool.hold(owner, held);
        },
        leave,
        leaveAllBut: (bytes) => leave(Math.max(0, held - bytes)),
      };
    },
  };
}

type Pool = ReturnType<typeof createPool>;

/** One network gets at most a quarter, and at most half of what the others leave free, so that the pool never runs full. */
function createPool(bytes: number) {
  const heldBy = new Map<string, number>();
  let heldByAll = 0;
  return {
    heldByAll: () => heldByAll,
    has(network: string, more: number): boolean {
      const held = heldBy.get(network) ?? 0;
      return held + more <= Math.min(bytes / 4, (bytes - (heldByAll - held)) / 2);
    },
    hold(network: string, change: number): void {
      heldByAll += change;
      const held = (heldBy.get(network) ?? 0) + change;
      if (held > 0) heldBy.set(network, held);
      else heldBy.delete(network);
    },
  };
}

function tooBusy(): GatewayError {
  const message = 'The gateway is busy with too many large requests. Please try again in a moment.';
  return new GatewayError('service_unavailable', message, { refund: true, reason: 'body_budget' });
}
