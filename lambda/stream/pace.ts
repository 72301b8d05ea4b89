/** Whether a client keeps up with what it is sent. */
export interface Pace {
  /** Whether it holds the upstream back at this moment. */
  readonly heldBack: boolean;
  /** Whether it does, or did until a moment ago: what arrives from the upstream now may date from that time. */
  readonly behind: boolean;
  change(heldBack: boolean): void;
  /** Stops the timer, when the answers are no longer needed. */
  stop(): void;
}

/** Milliseconds of holding back after which a client is behind, and of reading after which it has caught up. */
const behindAfter = 100;
const caughtUpAfter = 1_000;

export function createPace(): Pace {
  let heldBack = false;
  let behind = false;
  let timer: NodeJS.Timeout | undefined;
  const settle = () => {
    behind = heldBack;
  };
  return {
    get heldBack() {
      return heldBack;
    },
    get behind() {
      return heldBack || behind;
    },
    change(held) {
      heldBack = held;
      clearTimeout(timer);
      timer = setTimeout(settle, held ? behindAfter : caughtUpAfter);
    },
    stop: () => clearTimeout(timer),
  };
}
