import type { Written } from '../bodies.ts';
import type { Dialect } from '../dialects/dialect.ts';
import { type GatewayError, toGatewayError } from '../errors.ts';
import { type FailureDetails, type FailureKind, UpstreamFailure } from '../upstream/failure.ts';
import { type ClientStream, createClientStream } from './client-stream.ts';
import type { StreamRewriter } from './rewrite-stream.ts';
import { encodeEvent } from './sse.ts';
import { createUpstreamStream, type UpstreamStream } from './upstream-stream.ts';

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
  readonly readsOn: () => boolean;
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
  const upstream = createUpstreamStream({
    idleTimeout: parts.idleTimeout,
    timeLeft: parts.timeLeft,
    onBytes: read,
    onEnd: endOfUpstream,
  });
  const client = createClientStream({
    keepAlive: parts.dialect.keepAlive,
    keepAliveInterval: parts.keepAliveInterval,
    onHeldBack: upstream.hold,
    onClose: () => ending.leave(),
  });
  const ending = createEnding(parts, upstream, client);
  let hasStarted = false;

  function read(bytes: Buffer): void {
    if (ending.isOver) return;
    upstream.alive();
    const { rewriter } = upstream;
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
  function endOfUpstream(midway: FailureKind, atFirst: FailureKind, cause?: unknown): void {
    upstream.flush();
    if (ending.isOver) return;
    client.write(finishRewriter(upstream.rewriter));
    if (!ending.stopIfOver()) ending.breakOff(upstream.rewriter.started ? midway : atFirst, { cause });
  }

  return {
    /** What the client reads. It never errors: a failure is its last event. It closes when the stream is settled. */
    body: client.body,
    begun: client.begun,
    /** Aborts when the upstream is no longer needed; its reason is the failure, if there was one. */
    signal: upstream.signal,
    /** Reports a sign of life from an upstream. */
    alive: upstream.alive,
    attach: upstream.attach,
    fail: ending.fail,
    leave: ending.leave,
  };
}

/** How long an answer that is complete but for its usage is read on, whoever left. */
const usageTime = 5_000;

/** Every way in which a stream ends; the first counts. */
function createEnding(
  { dialect, explain, readsOn, onEnd }: RelayParts,
  upstream: UpstreamStream,
  client: ClientStream,
) {
  /** True the first time. There is a reason unless the answer is complete. */
  function stop(reason?: unknown): boolean {
    if (ending.isOver) return false;
    ending.isOver = true;
    client.stop();
    upstream.stop(reason);
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
      if (end.kind === 'failed') client.write(renderFailure(dialect, upstream.rewriter, settled ?? end.failure));
      client.end();
    };
    onEnd(end).then(close, () => close());
  }

  const ending = {
    isOver: false,
    fail(reason: unknown) {
      const failure = toGatewayError(reason);
      if (!stop(failure)) return;
      if (!upstream.rewriter.started && !client.hasBegun) {
        client.refuse(failure);
        return;
      }
      const rest = finishRewriter(upstream.rewriter);
      // What fails after the end of an answer is no failure of it.
      finish(endWith(upstream.rewriter.ended ? undefined : failure), rest);
    },
    breakOff(kind: FailureKind, details: FailureDetails = {}) {
      // A client must not get a refund by reading slowly.
      ending.fail(new UpstreamFailure(kind, { ...details, charged: details.charged || client.pace.isBehind() }));
    },
    /** Ends the stream if the upstream has announced its end. Returns whether it is over. */
    stopIfOver(): boolean {
      const { failure, ended, started } = upstream.rewriter;
      if (failure?.kind === 'broken') {
        const { cause, charged = false } = failure;
        ending.breakOff(started ? 'cut' : 'unusable', { cause, charged });
      } else if (failure) ending.breakOff('reported', { message: explain(failure.message) });
      else if (ended && stop()) finish(endWith());
      return ending.isOver;
    },
    /** The client has gone. */
    leave() {
      if (ending.isOver || client.hasLeft) return;
      client.leave();
      if (readsOn()) upstream.hold(false);
      else if (upstream.rewriter.mayEnd) upstream.endWithin(usageTime);
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
