import type { Readable } from 'node:stream';
import type { Dialect } from '../dialects/dialect.ts';
import { type GatewayError, toGatewayError } from '../errors.ts';
import { type FailureDetails, type FailureKind, UpstreamFailure } from '../upstream/failure.ts';
import { discard } from '../upstream/http-client.ts';
import { type ClientStream, createClientStream } from './client-stream.ts';
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
  const { dialect, rewriter } = parts;
  const upstream = new AbortController();
  const source = createSource(read, (cause) => endOfSource('cut', 'unusable', cause));
  // Has no effect while the client holds the upstream back, and restarts when the client reads on.
  const idle = setTimeout(() => {
    if (!client.pace.heldBack) endOfSource('stalled', 'timeout');
  }, parts.idleTimeout);
  const deadline = setTimeout(() => endOfSource('deadline', 'timeout'), parts.timeLeft);
  const client = createClientStream({
    keepAlive: dialect.keepAlive,
    keepAliveInterval: parts.keepAliveInterval,
    onHeldBack(heldBack) {
      if (!heldBack) idle.refresh();
      source.setPaused(heldBack);
    },
    onLeave: () => ending.cancel(),
  });
  const ending = createEnding(parts, client, (reason) => {
    clearTimeout(idle);
    clearTimeout(deadline);
    if (reason !== undefined) upstream.abort(reason);
    source.stop(reason === undefined);
  });
  const alive = () => {
    if (!ending.isOver) idle.refresh();
  };
  let hasStarted = false;

  function read(bytes: Buffer): void {
    if (ending.isOver) return;
    idle.refresh();
    const text = rewriter.push(bytes);
    if (text !== '') client.begin();
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
    client.write(finishRewriter(rewriter));
    if (!ending.stopIfOver()) ending.breakOff(rewriter.started ? midway : atFirst, { cause });
  }

  return {
    ...{ body: client.body, begun: client.begun, signal: upstream.signal },
    ...{ alive, fail: ending.fail, cancel: ending.cancel },
    attach(answer) {
      source.attach(answer);
      alive();
    },
  };
}

/** The upstream's answer. All that comes in one read of the connection is rewritten at once, and leaves in one write. */
function createSource(onBytes: (bytes: Buffer) => void, onEnd: (cause?: unknown) => void) {
  let answer: Readable | undefined;
  let arrived: Buffer[] = [];
  let isStopped = false;

  function flush(): void {
    const bytes = arrived.length > 1 ? Buffer.concat(arrived) : arrived[0];
    arrived = [];
    if (bytes !== undefined) onBytes(bytes);
  }

  return {
    /** Hands on what has arrived. */
    flush,
    attach(begun: Readable) {
      begun.on('error', onEnd);
      if (isStopped) {
        begun.destroy();
        return;
      }
      answer = begun;
      begun.on('data', (chunk: Buffer) => {
        if (arrived.push(chunk) === 1) process.nextTick(flush);
      });
      begun.once('end', () => onEnd());
      begun.once('close', () => onEnd());
    },
    setPaused(paused: boolean) {
      if (paused) answer?.pause();
      else answer?.resume();
    },
    /** Lets go of the answer, and of its connection unless that may be used again. */
    stop(mayReuse: boolean) {
      isStopped = true;
      if (!mayReuse) answer?.destroy();
      else if (answer) discard(answer);
    },
  };
}

/** Every way in which a stream ends; the first counts. `stopUpstream` gets a reason unless the answer is complete. */
function createEnding(
  { dialect, rewriter, explain, onEnd }: RelayParts,
  client: ClientStream,
  stopUpstream: (reason?: unknown) => void,
) {
  /** True the first time. */
  function stop(reason?: unknown): boolean {
    if (ending.isOver) return false;
    ending.isOver = true;
    client.stop();
    stopUpstream(reason);
    return true;
  }

  /** The last event waits until the charge is settled, because it states the outcome. */
  function finish(end: StreamEnd, rest = ''): void {
    client.begin();
    client.write(rest);
    const close = (settled?: GatewayError) => {
      if (end.kind === 'failed') client.write(renderFailure(dialect, rewriter, settled ?? end.failure));
      client.body.push(null);
    };
    onEnd(end).then(close, () => close());
  }

  const ending = {
    isOver: false,
    fail(reason: unknown) {
      const failure = toGatewayError(reason);
      if (!stop(failure)) return;
      if (!rewriter.started && !client.hasBegun) client.refuse(failure);
      else finish({ kind: 'failed', failure }, finishRewriter(rewriter));
    },
    breakOff(kind: FailureKind, details: FailureDetails = {}) {
      // A client must not get a refund by reading slowly.
      ending.fail(new UpstreamFailure(kind, { ...details, charged: details.charged || client.pace.isBehind() }));
    },
    /** Ends the stream if the upstream has announced its end. Returns whether it is over. */
    stopIfOver(): boolean {
      const { failure, ended, started } = rewriter;
      if (failure?.kind === 'broken') {
        const { cause, charged = false } = failure;
        if (started) ending.breakOff('cut', { cause, charged });
        else ending.breakOff('unusable', { cause });
      } else if (failure) ending.breakOff('reported', { message: explain(failure.message) });
      else if (ended && stop()) finish({ kind: 'complete' });
      return ending.isOver;
    },
    cancel() {
      if (!stop(new Error('the client has gone'))) return;
      client.begin();
      void onEnd({ kind: 'client_gone' });
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
function finishRewriter(rewriter: StreamRewriter): string {
  try {
    return rewriter.finish();
  } catch {
    return '';
  }
}
