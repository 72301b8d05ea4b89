import { Readable } from 'node:stream';

interface ClientStreamParts {
  /** What is sent while the upstream is silent, and every how many milliseconds. */
  readonly keepAlive: string;
  readonly keepAliveInterval: number;
  /** The client has stopped keeping up, or reads on. */
  readonly onHeldBack: (heldBack: boolean) => void;
  /** The client has left before the end. */
  readonly onLeave: () => void;
}

/** What a client is sent, and whether it keeps up. */
export interface ClientStream {
  readonly body: Readable;
  /** Resolves when the answer begins. */
  readonly begun: Promise<void>;
  readonly hasBegun: boolean;
  /** Whether the client holds the upstream back at this moment. */
  readonly heldBack: boolean;
  /** Whether it does, or did until a moment ago: what arrives from the upstream now may date from that time. */
  readonly behind: boolean;
  begin(): void;
  /** The answer never begins, because of this failure. */
  refuse(failure: Error): void;
  write(text: string): void;
  /** Stops the timers. What is written from here on is the last. */
  stop(): void;
}

/** Milliseconds of holding back after which a client is behind, and of reading after which it has caught up. */
const behindAfter = 100;
const caughtUpAfter = 1_000;

export function createClientStream(parts: ClientStreamParts): ClientStream {
  const begun = Promise.withResolvers<void>();
  let [hasBegun, stopped, heldBack, behind] = [false, false, false, false];
  let paceTimer: NodeJS.Timeout | undefined;
  const body = new Readable({
    highWaterMark: 65_536,
    read() {
      if (heldBack && !stopped) setHeldBack(false);
    },
    destroy(_error, done) {
      // The reader left before the end, so nothing that follows is an error.
      parts.onLeave();
      done(null);
    },
  });
  const keepAlive = setInterval(() => {
    begin();
    if (!heldBack) write(parts.keepAlive);
  }, parts.keepAliveInterval);

  function setHeldBack(held: boolean): void {
    heldBack = held;
    clearTimeout(paceTimer);
    paceTimer = setTimeout(() => (behind = held), held ? behindAfter : caughtUpAfter);
    parts.onHeldBack(held);
  }

  function begin(): void {
    hasBegun = true;
    begun.resolve();
  }

  function write(text: string): void {
    if (text === '') return;
    const wantsMore = body.push(text);
    if (stopped) return;
    keepAlive.refresh();
    if (!wantsMore) setHeldBack(true);
  }

  return {
    ...{ body, begin, write },
    begun: begun.promise,
    get hasBegun() {
      return hasBegun;
    },
    get heldBack() {
      return heldBack;
    },
    get behind() {
      return heldBack || behind;
    },
    refuse(failure) {
      begun.reject(failure);
      body.destroy();
    },
    stop() {
      stopped = true;
      clearTimeout(paceTimer);
      clearInterval(keepAlive);
    },
  };
}
