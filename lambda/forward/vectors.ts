import { finished, Readable } from 'node:stream';
import { type GatewayError, toGatewayError } from '../errors.ts';
import { createScanner, scanLeniently } from '../json/scan.ts';
import type { GatewayResponse } from '../request/call.ts';
import { rewriteAnswer } from '../stream/hide.ts';
import { joinChunks } from '../stream/join-chunks.ts';
import type { StreamEnd } from '../stream/relay.ts';
import { createVectorsRewriter } from '../stream/rewrite-vectors.ts';
import { UpstreamFailure } from '../upstream/failure.ts';
import type { Exchange } from './ask-upstream.ts';
import { type SettleDependencies, settleStream } from './settle.ts';
import { hasLeft, type Waiting, waitFor, whenAborted, whyUnusable } from './waiting.ts';

interface Dependencies extends SettleDependencies {
  readonly now: () => number;
}

/** Passes an answer of vectors on while it comes. */
export async function fetchVectors(exchange: Exchange, dependencies: Dependencies): Promise<GatewayResponse> {
  return waitFor(exchange, dependencies, async (waiting) => {
    const { body: answer } = await exchange.ask(waiting);
    const { body, begun } = passOn(answer, exchange, waiting, dependencies);
    whenAborted(exchange.request.clientGone, () => body.destroy());
    await begun;
    return { body };
  });
}

/** Milliseconds after which a client that has not taken what came holds the upstream back. */
const behindAfter = 100;

/** `begun` rejects with what keeps the answer from beginning. One that breaks off later ends with its error, and so is no JSON. */
function passOn(answer: Readable, exchange: Exchange, { signal, end, readsOn }: Waiting, dependencies: Dependencies) {
  const { request, record, hiding } = exchange;
  const { now } = dependencies;
  const begun = Promise.withResolvers<void>();
  const settled = Promise.withResolvers<void>();
  let hasBegun = false;
  let isOver = false;
  let heldSince: number | undefined;
  let wasBehind = false;

  // A piece is short enough to be read at once.
  const rewriter = createVectorsRewriter((text) =>
    rewriteAnswer(scanLeniently(createScanner(), text), request.call, hiding, record.usage),
  );
  const body = new Readable({
    highWaterMark: 65_536,
    read() {
      release();
      answer.resume();
    },
    destroy(_error, done) {
      // Its reader has left, if there is more to come.
      if (readsOn()) answer.resume();
      else answer.destroy();
      settled.promise.then(() => done(null));
    },
  });

  function release(): void {
    wasBehind ||= heldSince !== undefined && now() - heldSince > behindAfter;
    heldSince = undefined;
  }

  function write(bytes: Buffer): void {
    if (bytes.length === 0) return;
    hasBegun = true;
    begun.resolve();
    if (body.destroyed || body.push(bytes)) return;
    heldSince ??= now();
    answer.pause();
  }

  function finish(ended: StreamEnd): void {
    const push = (rest: string | null) => body.destroyed || body.push(rest);
    const close = (error?: GatewayError) => {
      if (error) push(`\n${request.call.dialect.renderError(error)}`);
      if (ended.kind !== 'complete') push(null);
      settled.resolve();
    };
    // Only the word about a failure waits until it is settled.
    if (ended.kind === 'complete') push(null);
    settleStream(exchange, ended, dependencies).then(close, () => close());
  }

  function stop(cause?: unknown): void {
    if (isOver) return;
    isOver = true;
    end();
    release();
    if (!hasBegun) {
      answer.destroy();
      settled.resolve();
      begun.reject(whyUnusable(cause, signal));
      return;
    }
    const isWhole = cause === undefined;
    const failure = isWhole ? undefined : whyBroken(cause, signal, wasBehind);
    if (!isWhole) answer.destroy();
    if (hasLeft(request) || body.destroyed) finish({ kind: 'client_gone', isWhole, ...(readsOn() && { failure }) });
    else finish(failure ? { kind: 'failed', failure } : { kind: 'complete' });
  }

  const attempt = (step: () => void): void => {
    try {
      step();
    } catch (cause) {
      stop(cause);
    }
  };
  const flush = joinChunks(answer, (bytes) => attempt(() => write(rewriter.push(bytes))));
  finished(answer, (error) => {
    flush();
    if (isOver) return;
    attempt(() => {
      if (error) throw error;
      write(rewriter.finish());
      stop();
    });
  });
  return { body, begun: begun.promise };
}

/** Why an answer broke off. A client must not get a refund by reading slowly. */
function whyBroken(cause: unknown, { aborted, reason }: AbortSignal, charged: boolean): GatewayError {
  if (!aborted) return new UpstreamFailure('cut', { cause, charged });
  return reason instanceof UpstreamFailure ? new UpstreamFailure('deadline') : toGatewayError(reason);
}
