import type { Readable } from 'node:stream';
import type { FailureKind } from '../upstream/failure.ts';
import { discard } from '../upstream/http-client.ts';
import { notBegun, type StreamRewriter } from './rewrite-stream.ts';

interface UpstreamListener {
  onBytes(bytes: Buffer): void;
  /** The upstream stopped sending: the failure if the answer has begun (`midway`), and if not (`atFirst`). */
  onEnd(midway: FailureKind, atFirst: FailureKind, cause?: unknown): void;
}

export type UpstreamStream = ReturnType<typeof createUpstreamStream>;

/**
 * The upstream's side of a stream, with its time limits: `timeLeft` milliseconds until the request's deadline, and `idleTimeout` between
 * two chunks.
 */
export function createUpstreamStream(idleTimeout: number, timeLeft: number) {
  const controller = new AbortController();
  let listener: UpstreamListener = { onBytes: () => {}, onEnd: () => {} };
  let answer: Readable | undefined;
  let rewriter = notBegun;
  let flush: (() => void) | undefined;
  let isPaused = false;
  let isStopped = false;
  // Ignored while back-pressure pauses the upstream; restarts when the client reads again.
  const idle = setTimeout(() => {
    if (!isPaused) listener.onEnd('stalled', 'timeout');
  }, idleTimeout);
  const deadline = setTimeout(() => listener.onEnd('deadline', 'timeout'), timeLeft);
  let drainTimer: NodeJS.Timeout | undefined;
  const onCut = (cause?: unknown) => listener.onEnd('cut', 'unusable', cause);

  /** Pauses the answer while the client does not read. */
  function setPaused(paused: boolean): void {
    isPaused = paused;
    if (paused) answer?.pause();
    else {
      idle.refresh();
      answer?.resume();
    }
  }

  return {
    signal: controller.signal,
    /** The answer's rewriter, once there is an answer. */
    get rewriter() {
      return rewriter;
    },
    /** Handles at once what has arrived. */
    flush: () => flush?.(),
    listen(by: UpstreamListener) {
      listener = by;
    },
    /** Starts reading the upstream's answer. */
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
    setPaused,
    /** Reads the rest, for at most `time` milliseconds. */
    endWithin(time: number) {
      drainTimer = setTimeout(onCut, time);
      setPaused(false);
    },
    /** Releases the answer. With a reason its connection is cut; without one it may be reused. */
    stop(reason?: unknown) {
      isStopped = true;
      clearTimeout(idle);
      clearTimeout(deadline);
      clearTimeout(drainTimer);
      if (reason !== undefined) {
        controller.abort(reason);
        answer?.destroy();
      } else if (answer) discard(answer);
    },
  };
}

/** Joins the chunks of one socket read, which may be ten thousand of a byte each. Returns a function that flushes what has arrived. */
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

/** In bytes. Each portion's garbage is dead before the next is read: V8's young generation grows for good if more survives a collection. */
const portion = 8_192;

/** Splits bytes at event boundaries where possible. */
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
