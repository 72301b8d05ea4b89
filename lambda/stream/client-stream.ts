import { Readable } from 'node:stream';
import type { Written } from '../bodies.ts';

interface ClientStreamParts {
  /** What is sent while the upstream is silent, and every how many milliseconds. */
  readonly keepAlive: string;
  readonly keepAliveInterval: number;
  readonly onHeldBack: (heldBack: boolean) => void;
  /** Nobody reads any more, which before the end means that the client has left. */
  readonly onClose: () => void;
}

export type ClientStream = Readonly<ReturnType<typeof createClientStream>>;

/** What a client is sent, and whether it keeps up. */
export function createClientStream({ keepAlive, keepAliveInterval, onHeldBack, onClose }: ClientStreamParts) {
  const begun = Promise.withResolvers<void>();
  const over = Promise.withResolvers<void>();
  const pace = createPace(onHeldBack);
  let isStopped = false;
  const body = new Readable({
    highWaterMark: 65_536,
    read() {
      if (pace.heldBack && !isStopped) pace.change(false);
    },
    destroy(_error, done) {
      onClose();
      // Its reader may have left before the end, so nothing that follows is an error.
      over.promise.then(() => done(null));
    },
  });
  const timer = setInterval(() => {
    client.begin();
    if (!pace.heldBack) client.write(keepAlive);
  }, keepAliveInterval);

  const client = {
    ...{ body, pace },
    /** Resolves when the answer begins; rejects if it never does. */
    begun: begun.promise,
    hasBegun: false,
    hasLeft: false,
    begin() {
      if (client.hasBegun) return;
      client.hasBegun = true;
      begun.resolve();
    },
    refuse(failure: Error) {
      begun.reject(failure);
      over.resolve();
      body.destroy();
    },
    /** Drops what was not read, and all that is written from here on. */
    leave() {
      client.hasLeft = true;
      client.stop();
      client.begin();
      body.read();
      body.destroy();
    },
    write(text: Written) {
      if (text.length === 0 || client.hasLeft) return;
      const wantsMore = typeof text === 'string' ? body.push(text) : text.map((piece) => body.push(piece)).at(-1);
      if (isStopped) return;
      timer.refresh();
      if (!wantsMore) pace.change(true);
    },
    /** Nothing more is sent. */
    finish() {
      if (!client.hasLeft) body.push(null);
    },
    /** Nothing more happens: now the body may close. */
    end() {
      client.finish();
      over.resolve();
    },
    /** Stops the timers. What is written from here on is the last. */
    stop() {
      isStopped = true;
      pace.stop();
      clearInterval(timer);
    },
  };
  return client;
}

/** Milliseconds of holding back after which a client is behind, and of reading after which it has caught up. */
const behindAfter = 100;
const caughtUpAfter = 1_000;

/** Whether a client keeps up with what it is sent. */
function createPace(onHeldBack: (heldBack: boolean) => void) {
  let wasBehind = false;
  let timer: NodeJS.Timeout | undefined;
  const pace = {
    /** Whether it holds the upstream back at this moment. */
    heldBack: false,
    /** Whether it does, or did until a moment ago: what arrives from the upstream now may date from that time. */
    isBehind: () => pace.heldBack || wasBehind,
    change(held: boolean) {
      pace.heldBack = held;
      clearTimeout(timer);
      timer = setTimeout(() => (wasBehind = held), held ? behindAfter : caughtUpAfter);
      onHeldBack(held);
    },
    stop: () => clearTimeout(timer),
  };
  return pace;
}
