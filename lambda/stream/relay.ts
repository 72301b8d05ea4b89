import type { Dialect } from '../dialects/dialect.ts';
import { type GatewayError, toGatewayError } from '../errors.ts';
import type { Written } from '../json/pieces.ts';
import { type FailureDetails, type FailureKind, UpstreamFailure } from '../upstream/failure.ts';
import { type ClientStream, createClientStream } from './client-stream.ts';
import type { StreamRewriter } from './rewrite-stream.ts';
import { encodeEvent } from './sse.ts';
import { createUpstreamStream, type UpstreamStream } from './upstream-stream.ts';

/** How a stream came to its end. */
export type StreamEnd =
  | { readonly kind: 'complete'; readonly failure?: undefined }
  | { readonly kind: 'failed'; readonly failure: GatewayError }
  /** `isWhole`: it was drained to its end. `failure`: it failed before that. */
  | { readonly kind: 'client_gone'; readonly isWhole: boolean; readonly failure?: GatewayError | undefined };

interface RelayParts {
  readonly dialect: Dialect;
  /** Turns the upstream's error message into what the client may read. */
  readonly explain: (message: string) => string | undefined;
  readonly idleTimeout: number;
  readonly keepAliveInterval: number;
  /** Milliseconds until the request's deadline. */
  readonly timeLeft: number;
  /** Whether to drain the upstream after the client has disconnected, to learn the usage. */
  readonly shouldDrain: () => boolean;
  readonly onFirstEvent?: () => void;
  /** Called once when a started stream is over. A failure's last event waits for it, and carries the error that it returns. */
  readonly onEnd: (end: StreamEnd) => Promise<GatewayError | undefined>;
}

/** A stream in progress. It ends once: whatever ends it first counts. */
interface Relay {
  readonly parts: RelayParts;
  readonly upstream: UpstreamStream;
  readonly client: ClientStream;
  state: 'waiting' | 'started' | 'over';
}

/**
 * Relays an upstream's stream to the client, event by event. It watches both sides: if the upstream is silent, the client gets
 * keep-alives, then a timeout; if the client is slow, back-pressure pauses the upstream, and its silence does not count.
 */
export function createRelay(parts: RelayParts) {
  const upstream = createUpstreamStream(parts.idleTimeout, parts.timeLeft);
  const client = createClientStream(parts.dialect.keepAlive, parts.keepAliveInterval);
  const relay: Relay = { parts, upstream, client, state: 'waiting' };
  upstream.listen({
    onBytes: (bytes) => read(relay, bytes),
    onEnd: (midway, atFirst, cause) => endOfUpstream(relay, midway, atFirst, cause),
  });
  client.listen({ onBackPressure: upstream.setPaused, onClose: () => leave(relay) });
  return {
    /** The client's body. It never errors: a failure is its last event. It closes once the charge is settled. */
    body: client.body,
    begun: client.begun,
    /** Aborts when the upstream is no longer needed; its reason is the failure, if there was one. */
    signal: upstream.signal,
    /** Restarts the idle timeout. */
    alive: upstream.alive,
    attach: upstream.attach,
    fail: (reason: unknown) => fail(relay, reason),
    leave: () => leave(relay),
  };
}

function read(relay: Relay, bytes: Buffer): void {
  const { parts, upstream, client } = relay;
  if (relay.state === 'over') return;
  upstream.alive();
  const text = upstream.rewriter.push(bytes);
  if (text.length > 0) client.begin();
  if (upstream.rewriter.started && relay.state === 'waiting') {
    relay.state = 'started';
    parts.onFirstEvent?.();
  }
  client.write(text);
  endIfAnnounced(relay);
}

/** The upstream has closed. That is the end if the answer is complete, and a failure otherwise. */
function endOfUpstream(relay: Relay, midway: FailureKind, atFirst: FailureKind, cause?: unknown): void {
  const { upstream, client } = relay;
  upstream.flush();
  if (relay.state === 'over') return;
  client.write(finishRewriter(upstream.rewriter));
  if (!endIfAnnounced(relay)) breakOff(relay, upstream.rewriter.started ? midway : atFirst, { cause });
}

/** Ends the stream if the upstream has announced its end. Returns whether it is over. */
function endIfAnnounced(relay: Relay): boolean {
  const { failure, ended, started } = relay.upstream.rewriter;
  if (failure?.kind === 'broken') {
    const { cause, charged = false } = failure;
    breakOff(relay, started ? 'cut' : 'unusable', { cause, charged });
  } else if (failure) breakOff(relay, 'reported', { message: relay.parts.explain(failure.message) });
  else if (ended && stop(relay)) finish(relay, endWith(relay));
  return relay.state === 'over';
}

function breakOff(relay: Relay, kind: FailureKind, details: FailureDetails): void {
  // A client must not get a refund by reading slowly.
  const charged = details.charged || relay.client.pace.isBehind();
  fail(relay, new UpstreamFailure(kind, { ...details, charged }));
}

function fail(relay: Relay, reason: unknown): void {
  const { upstream, client } = relay;
  const failure = toGatewayError(reason);
  if (!stop(relay, failure)) return;
  if (!upstream.rewriter.started && client.state === 'waiting') {
    client.refuse(failure);
    return;
  }
  const rest = finishRewriter(upstream.rewriter);
  // A failure after the end of an answer does not count.
  finish(relay, endWith(relay, upstream.rewriter.ended ? undefined : failure), rest);
}

/** After the client has disconnected: how long to wait for the usage of an answer that is otherwise complete, in milliseconds. */
const usageTime = 5_000;

/** The client disconnected. */
function leave(relay: Relay): void {
  const { parts, upstream, client } = relay;
  if (relay.state === 'over' || client.state === 'gone') return;
  client.leave();
  if (parts.shouldDrain()) upstream.setPaused(false);
  else if (upstream.rewriter.mayEnd) upstream.endWithin(usageTime);
  else if (stop(relay, new Error('the client has gone'))) finish(relay, { kind: 'client_gone', isWhole: false });
}

/** Releases both sides; true the first time. Without a reason the answer is complete. */
function stop(relay: Relay, reason?: unknown): boolean {
  if (relay.state === 'over') return false;
  relay.state = 'over';
  relay.client.stop();
  relay.upstream.stop(reason);
  return true;
}

function endWith({ client }: Relay, failure?: GatewayError): StreamEnd {
  if (client.state === 'gone') return { kind: 'client_gone', isWhole: failure === undefined, failure };
  return failure ? { kind: 'failed', failure } : { kind: 'complete' };
}

/** A failure's last event waits until the charge is settled, because it says whether the request was charged. */
function finish({ parts, upstream, client }: Relay, end: StreamEnd, rest: Written = ''): void {
  client.begin();
  client.write(rest);
  if (end.kind === 'complete') client.finish();
  const close = (settled?: GatewayError) => {
    if (end.kind === 'failed') client.write(renderFailure(parts.dialect, upstream.rewriter, settled ?? end.failure));
    client.end();
  };
  parts.onEnd(end).then(close, () => close());
}

/** The error event of a failed stream; empty if the upstream's own has gone out. */
function renderFailure(dialect: Dialect, { failure, nextSequence }: StreamRewriter, error: GatewayError): string {
  const isReported = failure?.kind === 'reported' && failure.forwarded;
  return isReported ? '' : encodeEvent(dialect.renderErrorEvent(error, nextSequence()));
}

/** The text held back; empty if the rewriter throws, because the stream must end anyway. */
function finishRewriter(rewriter: StreamRewriter): Written {
  try {
    return rewriter.finish();
  } catch {
    return '';
  }
}
