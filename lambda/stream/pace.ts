/** Whether a client keeps up with what it is sent. */
export interface Pace {
  /** Whether it holds the upstream back at this moment. */
  readonly heldBack: boolean;
  /** Whether it does, or did so until a moment ago: what the upstream is seen to do now may have happened meanwhile. */
  readonly behind: boolean;
  change(heldBack: boolean): void;
  /** Nobody asks any more. */
  stop(): void;
}

/** A client that holds the upstream back for so long is behind; one that has not held it back for so long has caught up. */
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
