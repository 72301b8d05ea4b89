import { Readable } from 'node:stream';
import type { Dialect } from '../dialects/dialect.ts';
import { type GatewayError, toGatewayError } from '../errors.ts';
import { type FailureDetails, type FailureKind, UpstreamFailure } from '../upstream/failure.ts';
import { discard } from '../upstream/http-client.ts';
import { createPace } from './pace.ts';
import type { StreamRewriter } from './rewrite-stream.ts';
import { encodeEvent } from './sse.ts';

/** How a stream came to its end. */
export type StreamEnd =
  | { readonly kind: 'complete' }
  | { readonly kind: 'failed'; readonly failure: GatewayError }
  | { readonly kind: 'client_gone' };

interface RelayParts {
  readonly dialect: Dialect;
  readonly rewriter: StreamRewriter;
  /** Turns the upstream's error message into what the client may read. */
  readonly explain: (message: string) => string | undefined;
  readonly idleTimeout: number;
  readonly keepAliveInterval: number;
  /** Milliseconds until the request's time is over. */
  readonly timeLeft: number;
  /** Called when the first event goes out. */
  readonly onFirstEvent?: () => void;
  /** Called once when a stream that has begun is over. The last event waits for it, and carries the error that it returns. */
  readonly onEnd: (end: StreamEnd) => Promise<GatewayError | undefined>;
}

export interface Relay {
  /** What the client reads. It never errors: a failure is its last event. */
  readonly body: Readable;
  /** Resolves when the answer must begin; rejects if the upstream fails before that. */
  readonly begun: Promise<void>;
  /** Aborts when the upstream is no longer needed; its reason is the failure, if there was one. */
  readonly signal: AbortSignal;
  /** Reports a sign of life from an upstream. */
  alive(): void;
  /** Takes over the upstream's answer. */
  attach(answer: Readable): void;
  /** Ends the stream with this error. */
  fail(reason: unknown): void;
  /** The client went away. */
  cancel(): void;
}

/**
 * Carries an upstream's stream to the client, event by event. It watches both sides: the upstream may be silent (the
 * client gets keep-alives, then a timeout), the client may be slow (the upstream is held back, and its silence does not
 * count).
 */
export function createRelay(parts: RelayParts): Relay {
  const { dialect, rewriter, onEnd } = parts;
  const upstream = new AbortController();
  const begun = Promise.withResolvers<void>();
  const pace = createPace();
  let source: Readable | undefined;
  let arrived: Buffer[] = []; // in this read of the connection
  let hasBegun = false;
  let over = false;
  let spoken = false;

  // Has no effect while the client holds the upstream back, and restarts when the client reads on.
  const idle = setTimeout(() => {
    if (!pace.heldBack) endOfSource('stalled', 'timeout');
  }, parts.idleTimeout);
  const deadline = setTimeout(() => endOfSource('deadline', 'timeout'), parts.timeLeft);
  const keepAlive = setInterval(() => {
    begin();
    if (!pace.heldBack) write(dialect.keepAlive);
  }, parts.keepAliveInterval);

  const body = new Readable({
    highWaterMark: 65_536,
    read() {
      if (pace.heldBack && !over) setHeldBack(false);
    },
    destroy(_error, done) {
      // The reader left before the end, so nothing that follows is an error.
      cancel();
      done(null);
    },
  });

  function begin(): void {
    if (hasBegun) return;
    hasBegun = true;
    begun.resolve();
  }

  function write(text: string): void {
    if (text === '') return;
    const wantsMore = body.push(text);
    if (over) return;
    keepAlive.refresh();
    if (!wantsMore) setHeldBack(true);
  }

  function setHeldBack(held: boolean): void {
    pace.change(held);
    if (held) source?.pause();
    else {
      idle.refresh();
      source?.resume();
    }
  }

  /** Stops timers and the upstream; true the first time. */
  function stop(reason?: unknown): boolean {
    if (over) return false;
    over = true;
    clearTimeout(idle);
    clearTimeout(deadline);
    pace.stop();
    clearInterval(keepAlive);
    if (reason !== undefined) upstream.abort(reason);
    return true;
  }

  /** The last event waits until the charge is settled, because it states the outcome. */
  function finish(end: StreamEnd, rest = '', lastWords: (settled?: GatewayError) => string = () => ''): void {
    begin();
    write(rest);
    const close = (settled?: GatewayError) => {
      write(lastWords(settled));
      body.push(null);
    };
    onEnd(end).then(close, () => close());
  }

  function complete(): void {
    if (!stop()) return;
    if (source) discard(source);
    finish({ kind: 'complete' });
  }

  function breakOff(kind: FailureKind, details: FailureDetails = {}): void {
    // A client must not get a refund by reading slowly.
    fail(new UpstreamFailure(kind, { ...details, charged: pace.behind }));
  }

  function fail(reason: unknown): void {
    const failure = toGatewayError(reason);
    if (!stop(failure)) return;
    source?.destroy();
    if (!rewriter.started && !hasBegun) {
      begun.reject(failure);
      body.destroy();
      return;
    }
    const rest = finishRewriter();
    const told = rewriter.failure?.kind === 'reported' && rewriter.failure.forwarded;
    finish({ kind: 'failed', failure }, rest, (settled = failure) =>
      told ? '' : encodeEvent(dialect.renderErrorEvent(settled, rewriter.nextSequence)),
    );
  }

  function cancel(): void {
    if (!stop(new Error('the client has gone'))) return;
    source?.destroy();
    begun.resolve();
    void onEnd({ kind: 'client_gone' });
  }

  /** Collects what comes in one read of the connection. It is rewritten at once, and leaves in one write. */
  function collect(chunk: Buffer): void {
    if (arrived.push(chunk) === 1) process.nextTick(read);
  }

  function read(): void {
    const bytes = arrived.length > 1 ? Buffer.concat(arrived) : arrived[0];
    arrived = [];
    if (over || bytes === undefined) return;
    idle.refresh();
    const text = rewriter.push(bytes);
    if (text !== '') begin();
    if (rewriter.started && !spoken) {
      spoken = true;
      parts.onFirstEvent?.();
    }
    write(text);
    stopIfOver();
  }

  /** Ends the stream if the upstream has announced its end. Returns whether it is over. */
  function stopIfOver(): boolean {
    const { failure, ended } = rewriter;
    if (failure?.kind === 'broken') {
      breakOff(rewriter.started ? 'cut' : 'unusable', { cause: failure.cause });
    } else if (failure) breakOff('reported', { message: parts.explain(failure.message) });
    else if (ended) complete();
    return over;
  }

  /** The upstream sends no more: the end if the answer is complete without a last event, else a failure. */
  function endOfSource(midway: FailureKind = 'cut', atFirst: FailureKind = 'unusable', cause?: unknown): void {
    read();
    if (over) return;
    write(finishRewriter());
    if (!stopIfOver()) breakOff(rewriter.started ? midway : atFirst, { cause });
  }

  /** The text held back; nothing if the rewriter fails, because the stream must end all the same. */
  function finishRewriter(): string {
    try {
      return rewriter.finish();
    } catch {
      return '';
    }
  }

  return {
    body,
    begun: begun.promise,
    signal: upstream.signal,
    alive: () => {
      if (!over) idle.refresh();
    },
    attach(answer) {
      answer.on('error', (cause) => endOfSource('cut', 'unusable', cause));
      if (over) {
        answer.destroy();
        return;
      }
      source = answer;
      idle.refresh();
      answer.on('data', collect);
      answer.once('end', () => endOfSource());
      answer.once('close', () => endOfSource());
    },
    fail,
    cancel,
  };
}
