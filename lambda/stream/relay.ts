import type { Readable } from 'node:stream';
import type { Written } from '../bodies.ts';
import type { Dialect } from '../dialects/dialect.ts';
import { type GatewayError, toGatewayError } from '../errors.ts';
import { type FailureDetails, type FailureKind, UpstreamFailure } from '../upstream/failure.ts';
import { discard } from '../upstream/http-client.ts';
import { type ClientStream, createClientStream } from './client-stream.ts';
import { notBegun, type StreamRewriter } from './rewrite-stream.ts';
import { encodeEvent } from './sse.ts';

/** How a stream came to its end. */
export type StreamEnd =
  | { readonly kind: 'complete'; readonly failure?: undefined }
  | { readonly kind: 'failed'; readonly failure: GatewayError }
  /** `isWhole`: it was read to its end all the same. `failure`: it failed before that. */
  | { readonly kind: 'client_gone'; readonly isWhole: boolean; readonly failure?: GatewayError | undefined };

interface RelayParts {
  readonly dialect: Dialect;
  /** Turns the upstream's error message into what the client may read. */
  readonly explain: (message: string) => string | undefined;
  readonly idleTimeout: number;
  readonly keepAliveInterval: number;
  /** Milliseconds until the request's time is over. */
  readonly timeLeft: number;
  /** Whether an answer is read to its end, to learn what it used, when the client has left. */
  readonly readsOn: boolean;
  readonly onFirstEvent?: () => void;
  /** Called once when a stream that has begun is over. The last event of a failure waits for it, and carries the error that it returns. */
  readonly onEnd: (end: StreamEnd) => Promise<GatewayError | undefined>;
}

/**
 * Carries an upstream's stream to the client, event by event. It watches both sides: the upstream may be silent (the
 * client gets keep-alives, then a timeout), the client may be slow (the upstream is held back, and its silence does not
 * count).
 */
export function createRelay(parts: RelayParts) {
  const source = createSource(parts, read, endOfSource);
  const client = createClientStream({
    keepAlive: parts.dialect.keepAlive,
    keepAliveInterval: parts.keepAliveInterval,
    onHeldBack: source.hold,
    onClose: () => ending.leave(),
  });
  const ending = createEnding(parts, source, client);
  let hasStarted = false;

  function read(bytes: Buffer): void {
    if (ending.isOver) return;
    source.alive();
    const { rewriter } = source;
    const text = rewriter.push(bytes);
    if (text.length > 0) client.begin();
    if (rewriter.started && !hasStarted) {
      hasStarted = true;
      parts.onFirstEvent?.();
    }
    client.write(text);
    ending.stopIfOver();
  }

  /** The upstream sends no more: the end if the answer is complete without a last event, else a failure. */
  function endOfSource(midway: FailureKind, atFirst: FailureKind, cause?: unknown): void {
    source.flush();
    if (ending.isOver) return;
    client.write(finishRewriter(source.rewriter));
    if (!ending.stopIfOver()) ending.breakOff(source.rewriter.started ? midway : atFirst, { cause });
  }

  return {
    /** What the client reads. It never errors: a failure is its last event. It closes when the stream is settled. */
    body: client.body,
    begun: client.begun,
    /** Aborts when the upstream is no longer needed; its reason is the failure, if there was one. */
    signal: source.signal,
    /** Reports a sign of life from an upstream. */
    alive: source.alive,
    attach: source.attach,
    fail: ending.fail,
    leave: ending.leave,
  };
}

type Source = ReturnType<typeof createSource>;

/** The upstream's side. All that comes in one read of its connection is rewritten at once, and leaves in one write for each portion. */
function createSource(
  { idleTimeout, timeLeft }: RelayParts,
  onBytes: (bytes: Buffer) => void,
  onEnd: (midway: FailureKind, atFirst: FailureKind, cause?: unknown) => void,
) {
  const upstream = new AbortController();
  let answer: Readable | undefined;
  let arrived: Buffer[] = [];
  let isHeld = false;
  let isStopped = false;
  // Has no effect while the client holds the upstream back, and restarts when the client reads on.
  const idle = setTimeout(() => {
    if (!isHeld) onEnd('stalled', 'timeout');
  }, idleTimeout);
  const deadline = setTimeout(() => onEnd('deadline', 'timeout'), timeLeft);
  let lastCall: NodeJS.Timeout | undefined;
  const onCut = (cause?: unknown) => onEnd('cut', 'unusable', cause);

  const source = {
    signal: upstream.signal,
    /** What rewrites the answer, once there is one. */
    rewriter: notBegun,
    /** Takes over the upstream's answer, and what rewrites it. */
    attach(begun: Readable, rewriter: StreamRewriter) {
      source.rewriter = rewriter;
      begun.on('error', onCut);
      if (isStopped) {
        begun.destroy();
        return;
      }
      answer = begun;
      begun.on('data', (chunk: Buffer) => {
        if (arrived.push(chunk) === 1) process.nextTick(source.flush);
      });
      begun.once('end', () => onCut());
      begun.once('close', () => onCut());
      idle.refresh();
    },
    /** Hands on what has arrived. */
    flush() {
      const bytes = arrived.length > 1 ? Buffer.concat(arrived) : arrived[0];
      arrived = [];
      if (bytes === undefined) return;
      if (bytes.length <= portion) onBytes(bytes);
      else for (const part of portionsOf(bytes)) onBytes(part);
    },
    alive() {
      if (!isStopped) idle.refresh();
    },
    /** Holds the answer back while the client does not read. */
    hold(held: boolean) {
      isHeld = held;
      if (held) answer?.pause();
      else {
        idle.refresh();
        answer?.resume();
      }
    },
    /** Reads on, for so many milliseconds at most. */
    endWithin(time: number) {
      lastCall = setTimeout(onCut, time);
      source.hold(false);
    },
    /** Lets go of the answer: with a reason also of its connection, which otherwise may be used again. */
    stop(reason?: unknown) {
      isStopped = true;
      clearTimeout(idle);
      clearTimeout(deadline);
      clearTimeout(lastCall);
      if (reason !== undefined) {
        upstream.abort(reason);
        answer?.destroy();
      } else if (answer) discard(answer);
    },
  };
  return source;
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

/** How long an answer that is complete but for its usage is read on, whoever left. */
const usageTime = 5_000;

/** Every way in which a stream ends; the first counts. */
function createEnding({ dialect, explain, readsOn, onEnd }: RelayParts, source: Source, client: ClientStream) {
  /** True the first time. There is a reason unless the answer is complete. */
  function stop(reason?: unknown): boolean {
    if (ending.isOver) return false;
    ending.isOver = true;
    client.stop();
    source.stop(reason);
    return true;
  }

  function endWith(failure?: GatewayError): StreamEnd {
    if (client.hasLeft) return { kind: 'client_gone', isWhole: failure === undefined, failure };
    return failure ? { kind: 'failed', failure } : { kind: 'complete' };
  }

  /** The last event of a failure waits until the charge is settled, because it states the outcome. */
  function finish(end: StreamEnd, rest: Written = ''): void {
    client.begin();
    client.write(rest);
    if (end.kind === 'complete') client.finish();
    const close = (settled?: GatewayError) => {
      if (end.kind === 'failed') client.write(renderFailure(dialect, source.rewriter, settled ?? end.failure));
      client.end();
    };
    onEnd(end).then(close, () => close());
  }

  const ending = {
    isOver: false,
    fail(reason: unknown) {
      const failure = toGatewayError(reason);
      if (!stop(failure)) return;
      if (!source.rewriter.started && !client.hasBegun) {
        client.refuse(failure);
        return;
      }
      const rest = finishRewriter(source.rewriter);
      // What fails after the end of an answer is no failure of it.
      finish(endWith(source.rewriter.ended ? undefined : failure), rest);
    },
    breakOff(kind: FailureKind, details: FailureDetails = {}) {
      // A client must not get a refund by reading slowly.
      ending.fail(new UpstreamFailure(kind, { ...details, charged: details.charged || client.pace.isBehind() }));
    },
    /** Ends the stream if the upstream has announced its end. Returns whether it is over. */
    stopIfOver(): boolean {
      const { failure, ended, started } = source.rewriter;
      if (failure?.kind === 'broken') {
        const { cause, charged = false } = failure;
        if (started) ending.breakOff('cut', { cause, charged });
        else ending.breakOff('unusable', { cause });
      } else if (failure) ending.breakOff('reported', { message: explain(failure.message) });
      else if (ended && stop()) finish(endWith());
      return ending.isOver;
    },
    /** The client has gone. */
    leave() {
      if (ending.isOver || client.hasLeft) return;
      client.leave();
      if (readsOn) source.hold(false);
      else if (source.rewriter.mayEnd) source.endWithin(usageTime);
      else if (stop(new Error('the client has gone'))) finish({ kind: 'client_gone', isWhole: false });
    },
  };
  return ending;
}

/** The event that says why a stream fails; nothing if the upstream's own has gone out. */
function renderFailure(dialect: Dialect, { failure, nextSequence }: StreamRewriter, error: GatewayError): string {
  const isReported = failure?.kind === 'reported' && failure.forwarded;
  return isReported ? '' : encodeEvent(dialect.renderErrorEvent(error, nextSequence()));
}

/** The text held back; nothing if the rewriter fails, because the stream must end all the same. */
function finishRewriter(rewriter: StreamRewriter): Written {
  try {
    return rewriter.finish();
  } catch {
    return '';
  }
}
