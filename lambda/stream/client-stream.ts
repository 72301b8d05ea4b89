import { Readable } from 'node:stream';
import type { Written } from '../json/pieces.ts';

/** What a client does. */
interface ClientListener {
  /** It takes no more for now, or reads on. */
  onHeldBack(heldBack: boolean): void;
  /** It reads no more, which before the end means that it has left. */
  onClose(): void;
}

export type ClientStream = ReturnType<typeof createClientStream>;

/** What a client is sent, and whether it keeps up. A `keepAlive` is sent whenever nothing else was for so many milliseconds. */
export function createClientStream(keepAlive: string, keepAliveInterval: number) {
  const begun = Promise.withResolvers<void>();
  const over = Promise.withResolvers<void>();
  let listener: ClientListener = { onHeldBack: () => {}, onClose: () => {} };
  let state: 'waiting' | 'reading' | 'gone' = 'waiting';
  const { body, pace, push } = createPacedBody({
    onHeldBack: (heldBack) => listener.onHeldBack(heldBack),
    onClose: () => listener.onClose(),
    over: over.promise,
  });

  function begin(): void {
    if (state !== 'waiting') return;
    state = 'reading';
    begun.resolve();
  }

  const timer = setInterval(() => {
    begin();
    if (!pace.heldBack) push(keepAlive);
  }, keepAliveInterval);

  function stop(): void {
    pace.stop();
    clearInterval(timer);
  }

  function finish(): void {
    if (state !== 'gone') body.push(null);
  }

  return {
    body,
    pace,
    get state() {
      return state;
    },
    /** Resolves when the answer begins; rejects if it never does. */
    begun: begun.promise,
    listen(by: ClientListener) {
      listener = by;
    },
    begin,
    refuse(failure: Error) {
      begun.reject(failure);
      over.resolve();
      body.destroy();
    },
    /** Drops what was not read, and all that is written from here on. */
    leave() {
      stop();
      begin();
      state = 'gone';
      body.read();
      body.destroy();
    },
    write(text: Written) {
      if (text.length === 0 || state === 'gone') return;
      push(text);
      if (!pace.isStopped) timer.refresh();
    },
    /** Nothing more is sent. */
    finish,
    /** Nothing more happens: now the body may close. */
    end() {
      finish();
      over.resolve();
    },
    /** Stops the timers. What is written from here on is the last. */
    stop,
  };
}

/** A body that measures how its reader keeps up. It closes when all is `over`. */
function createPacedBody({ onHeldBack, onClose, over }: ClientListener & { readonly over: Promise<void> }) {
  const pace = createPace(onHeldBack);
  const body = new Readable({
    highWaterMark: 65_536,
    read() {
      if (pace.heldBack) pace.change(false);
    },
    destroy(_error, done) {
      onClose();
      // Its reader may have left before the end, so nothing that follows is an error.
      over.then(() => done(null));
    },
  });
  return {
    body,
    pace,
    push(text: Written): void {
      const wantsMore = typeof text === 'string' ? body.push(text) : text.map((piece) => body.push(piece)).at(-1);
      if (!wantsMore) pace.change(true);
    },
  };
}

/** Milliseconds of holding back after which a client is behind, and of reading after which it has caught up. */
const behindAfter = 100;
const caughtUpAfter = 1_000;

/** Whether a client keeps up with what it is sent. */
function createPace(onHeldBack: (heldBack: boolean) => void) {
  let heldBack = false;
  let wasBehind = false;
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  return {
    /** Whether it holds the upstream back at this moment. */
    get heldBack() {
      return heldBack;
    },
    /** Whether it does, or did until a moment ago: what arrives from the upstream now may date from that time. */
    isBehind: () => heldBack || wasBehind,
    change(held: boolean) {
      if (isStopped) return;
      heldBack = held;
      clearTimeout(timer);
      timer = setTimeout(() => (wasBehind = held), held ? behindAfter : caughtUpAfter);
      onHeldBack(held);
    },
    get isStopped() {
      return isStopped;
    },
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
