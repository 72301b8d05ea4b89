import type { Readable } from 'node:stream';
import type { FailureKind } from '../upstream/failure.ts';
import { discard } from '../upstream/http-client.ts';
import { notBegun, type StreamRewriter } from './rewrite-stream.ts';

/** What becomes of what an upstream sends. */
interface UpstreamListener {
  onBytes(bytes: Buffer): void;
  /** It sends no more: why, if the answer has begun, and if it has not. */
  onEnd(midway: FailureKind, atFirst: FailureKind, cause?: unknown): void;
}

export type UpstreamStream = ReturnType<typeof createUpstreamStream>;

/**
 * What an upstream sends, and how long it is waited for: no longer than `timeLeft` milliseconds, when the request's time is over, and
 * than `idleTimeout` between two pieces.
 */
export function createUpstreamStream(idleTimeout: number, timeLeft: number) {
  const controller = new AbortController();
  let listener: UpstreamListener = { onBytes: () => {}, onEnd: () => {} };
  let answer: Readable | undefined;
  let rewriter = notBegun;
  let flush: (() => void) | undefined;
  let isHeld = false;
  let isStopped = false;
  // Has no effect while the client holds the upstream back, and restarts when the client reads on.
  const idle = setTimeout(() => {
    if (!isHeld) listener.onEnd('stalled', 'timeout');
  }, idleTimeout);
  const deadline = setTimeout(() => listener.onEnd('deadline', 'timeout'), timeLeft);
  let lastCall: NodeJS.Timeout | undefined;
  const onCut = (cause?: unknown) => listener.onEnd('cut', 'unusable', cause);

  /** Holds the answer back while the client does not read. */
  function hold(held: boolean): void {
    isHeld = held;
    if (held) answer?.pause();
    else {
      idle.refresh();
      answer?.resume();
    }
  }

  return {
    signal: controller.signal,
    /** What rewrites the answer, once there is one. */
    get rewriter() {
      return rewriter;
    },
    /** Hands on what has arrived. */
    flush: () => flush?.(),
    listen(by: UpstreamListener) {
      listener = by;
    },
    /** Takes over the upstream's answer, and what rewrites it. */
    attach(begun: Readable, rewrittenBy: StreamRewriter) {
      rewriter = rewrittenBy;
      begun.on('error', onCut);
      if (isStopped) {
        begun.destroy();
        return;
      }
      answer = begun;
      flush = joinChunks(begun, (bytes) => {
        if (bytes.length <= portion) listener.onBytes(bytes);
        else for (const part of portionsOf(bytes)) listener.onBytes(part);
      });
      begun.once('end', () => onCut());
      begun.once('close', () => onCut());
      idle.refresh();
    },
    alive() {
      if (!isStopped) idle.refresh();
    },
    hold,
    /** Reads on, for so many milliseconds at most. */
    endWithin(time: number) {
      lastCall = setTimeout(onCut, time);
      hold(false);
    },
    /** Lets go of the answer: with a reason also of its connection, which otherwise may be used again. */
    stop(reason?: unknown) {
      isStopped = true;
      clearTimeout(idle);
      clearTimeout(deadline);
      clearTimeout(lastCall);
      if (reason !== undefined) {
        controller.abort(reason);
        answer?.destroy();
      } else if (answer) discard(answer);
    },
  };
}

/** Hands on at once what one read of a connection brings, as it may hold ten thousand chunks of a byte. Returns what hands on the rest. */
function joinChunks(body: Readable, take: (bytes: Buffer) => void): () => void {
  let arrived: Buffer[] = [];
  const flush = () => {
    const bytes = arrived.length > 1 ? Buffer.concat(arrived) : arrived[0];
    arrived = [];
    if (bytes) take(bytes);
  };
  body.on('data', (chunk: Buffer) => {
    if (arrived.push(chunk) === 1) process.nextTick(flush);
  });
  return flush;
}

/** In bytes. What was made of one portion is garbage before the next is read: V8 takes more memory for ever if more is in use at a time. */
const portion = 8_192;

/** Cuts bytes after whole events, where it can. */
function* portionsOf(bytes: Buffer): Generator<Buffer> {
  let start = 0;
  while (bytes.length - start > portion) {
    const next = bytes.subarray(start, start + portion);
    const blankLine = next.lastIndexOf('\n\n');
    const whole = blankLine < 0 ? next : next.subarray(0, blankLine + 2);
    yield whole;
    start += whole.length;
  }
  yield bytes.subarray(start);
}
