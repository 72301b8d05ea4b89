import { GatewayError } from '../http/errors.ts';
import type { Room } from '../http/room.ts';

/** Divides `bytes` among the requests in flight; one network gets a quarter at most. */
export function createBodyBudget(bytes: number): { openRoom(): Room } {
  const share = bytes / 4;
  const heldBy = new Map<string, number>();
  let heldByAll = 0;

  const hold = (network: string, change: number): void => {
    heldByAll += change;
    const held = (heldBy.get(network) ?? 0) + change;
    if (held > 0) heldBy.set(network, held);
    else heldBy.delete(network);
  };

  return {
    openRoom() {
      let owner = '';
      let held = 0;
      return {
        claim(network) {
          owner = network;
        },
        take(more) {
          if (heldByAll + more > bytes || (heldBy.get(owner) ?? 0) + more > share) throw noRoom();
          hold(owner, more);
          held += more;
        },
        leave(given = held) {
          hold(owner, -given);
          held -= given;
        },
      };
    },
  };
}

function noRoom(): GatewayError {
  const message = 'The gateway is busy with too many large requests. Please try again in a moment.';
  return new GatewayError('service_unavailable', message, { refund: true, reason: 'body_budget' });
}
