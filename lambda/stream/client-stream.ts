import { Readable } from 'node:stream';
import type { Written } from '../json/pieces.ts';

interface ClientListener {
  /** The client stopped reading (`true`), or reads again. */
  onBackPressure(isBlocked: boolean): void;
  /** The body closed. Before the end this means that the client disconnected. */
  onClose(): void;
}

export type ClientStream = ReturnType<typeof createClientStream>;

/** The client's side of a stream, with back-pressure. Sends `keepAlive` after `keepAliveInterval` milliseconds without other output. */
export function createClientStream(keepAlive: string, keepAliveInterval: number) {
  const begun = Promise.withResolvers<void>();
  const over = Promise.withResolvers<void>();
  let listener: ClientListener = { onBackPressure: () => {}, onClose: () => {} };
  let state: 'waiting' | 'reading' | 'gone' = 'waiting';
  const { body, pace, push } = createPacedBody({
    onBackPressure: (isBlocked) => listener.onBackPressure(isBlocked),
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
    if (!pace.isBlocked) push(keepAlive);
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
    /** Resolves when the answer begins; rejects if it never will. */
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
    /** The client disconnected: drops what it has not read, and everything written from now on. */
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
    /** Ends the body. It stays open until `end`. */
    finish,
    /** Everything is settled: the body may close. */
    end() {
      finish();
      over.resolve();
    },
    /** Stops the timers: only the last writes follow. */
    stop,
  };
}

/** A readable body that tracks how well its reader keeps up. It closes once `over` resolves. */
function createPacedBody({ onBackPressure, onClose, over }: ClientListener & { readonly over: Promise<void> }) {
  const pace = createPace(onBackPressure);
  const body = new Readable({
    highWaterMark: 65_536,
    read() {
      if (pace.isBlocked) pace.change(false);
    },
    destroy(_error, done) {
      onClose();
      // The reader may have left early: nothing after that is an error.
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

/** A client counts as behind after this many milliseconds of back-pressure, and as caught up after this many without. */
const behindAfter = 100;
const caughtUpAfter = 1_000;

/** Tracks back-pressure over time. */
function createPace(onBackPressure: (isBlocked: boolean) => void) {
  let isBlocked = false;
  let wasBehind = false;
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  return {
    /** Whether the client is blocking the upstream right now. */
    get isBlocked() {
      return isBlocked;
    },
    /** Whether it has been for a while, or was until a moment ago: what arrives from the upstream now may have been waiting since then. */
    isBehind: () => wasBehind,
    change(held: boolean) {
      if (isStopped) return;
      isBlocked = held;
      clearTimeout(timer);
      timer = setTimeout(() => (wasBehind = held), held ? behindAfter : caughtUpAfter);
      onBackPressure(held);
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
