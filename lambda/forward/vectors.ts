import { Readable } from 'node:stream';
import { type GatewayError, toGatewayError } from '../errors.ts';
import { createScanner, scanLeniently } from '../json/scan.ts';
import type { GatewayResponse } from '../request/incoming-request.ts';
import type { StreamEnd } from '../stream/relay.ts';
import { rewriteAnswer } from '../stream/rewrite-answer.ts';
import { createVectorsRewriter } from '../stream/rewrite-vectors.ts';
import { UpstreamFailure } from '../upstream/failure.ts';
import type { UpstreamAttempt } from './ask-upstream.ts';
import { type SettleDependencies, settleStream } from './settle.ts';
import { hasLeft, type Waiting, waitFor, whenAborted, whyUnusable } from './waiting.ts';

interface Dependencies extends SettleDependencies {
  readonly now: () => number;
}

/** Asks for embeddings, and streams the answer through. */
export async function fetchVectors(attempt: UpstreamAttempt, dependencies: Dependencies): Promise<GatewayResponse> {
  return waitFor(attempt, dependencies, async (waiting) => {
    const { body: answer } = await attempt.ask(waiting);
    const client = createClient(answer, waiting.shouldDrain, dependencies.now);
    whenAborted(attempt.request.clientGone, () => client.body.destroy());
    void passThrough(answer, client, attempt, waiting, dependencies);
    await client.begun;
    return { body: client.body };
  });
}

/** Never rejects. An answer that breaks off midway ends with the error, so that it is not valid JSON. */
async function passThrough(
  answer: Readable,
  client: Client,
  attempt: UpstreamAttempt,
  { signal, end, shouldDrain }: Waiting,
  dependencies: Dependencies,
): Promise<void> {
  const { request, record, hiding } = attempt;
  // Pieces are short enough to be scanned at once.
  const rewriter = createVectorsRewriter((text) =>
    rewriteAnswer(scanLeniently(createScanner(), text), request.parsed, hiding, record.usage),
  );
  // The connection does not: to it, an answer that has arrived is over, even if nobody has read it.
  whenAborted(signal, (reason) => answer.destroy(reason as Error));
  let failure: GatewayError | undefined;
  try {
    for await (const bytes of answer) {
      client.write(rewriter.push(bytes));
      await client.ready();
    }
    client.write(rewriter.finish());
  } catch (cause) {
    if (!client.hasBegun()) return client.refuse(whyUnusable(cause, signal));
    failure = whyBroken(cause, signal, client.wasBehind());
  } finally {
    end();
  }
  const ended = endOf(failure, hasLeft(request) || client.body.destroyed, shouldDrain());
  // Only an error waits for the settlement.
  if (ended.kind === 'complete') client.end();
  const error = await settleStream(attempt, ended, dependencies).catch(() => undefined);
  if (error) client.write(Buffer.from(`\n${request.parsed.dialect.renderError(error)}`));
  client.end();
  client.close();
}

/** How an answer ended. If its client disconnected and it is not drained, that is not a failure. */
function endOf(failure: GatewayError | undefined, hasGone: boolean, shouldDrain: boolean): StreamEnd {
  if (hasGone) return { kind: 'client_gone', isWhole: failure === undefined, ...(shouldDrain && { failure }) };
  return failure ? { kind: 'failed', failure } : { kind: 'complete' };
}

/** A client counts as behind after this many milliseconds of back-pressure. */
const behindAfter = 100;

type Client = ReturnType<typeof createClient>;

/** The client's side, with back-pressure: a slow client pauses the upstream. If it disconnects, the upstream is cut or drained. */
function createClient(answer: Readable, shouldDrain: () => boolean, now: () => number) {
  const begun = Promise.withResolvers<void>();
  const settled = Promise.withResolvers<void>();
  /** Present during back-pressure: resolves when the client reads again or is gone. */
  let unblocked: PromiseWithResolvers<void> | undefined;
  let hasBegun = false;
  let wasBehind = false;
  const body = new Readable({
    highWaterMark: 65_536,
    read: () => unblocked?.resolve(),
    destroy(_error, done) {
      unblocked?.resolve();
      if (!shouldDrain()) answer.destroy();
      // The reader may have left early: nothing after that is an error.
      settled.promise.then(() => done(null));
    },
  });
  answer.once('close', () => unblocked?.resolve());
  return {
    body,
    /** Resolves when the answer begins; rejects with the reason if it never does. */
    begun: begun.promise,
    hasBegun: () => hasBegun,
    wasBehind: () => wasBehind,
    write(bytes: Buffer): void {
      if (bytes.length === 0) return;
      hasBegun = true;
      begun.resolve();
      if (!body.destroyed && !body.push(bytes)) unblocked = Promise.withResolvers();
    },
    /** Resolves when the client is ready for more. */
    async ready(): Promise<void> {
      const blockedSince = now();
      await unblocked?.promise;
      wasBehind ||= now() - blockedSince > behindAfter;
    },
    refuse(reason: unknown): void {
      begun.reject(reason);
      settled.resolve();
    },
    /** Ends the body. It stays open until `close`. */
    end(): void {
      if (!body.destroyed) body.push(null);
    },
    /** Lets the body close, now that everything is settled. */
    close: settled.resolve,
  };
}

/** Why an answer broke off midway. A client must not get a refund by reading slowly. */
function whyBroken(cause: unknown, { aborted, reason }: AbortSignal, charged: boolean): GatewayError {
  if (!aborted) return new UpstreamFailure('cut', { cause, charged });
  return reason instanceof UpstreamFailure ? new UpstreamFailure('deadline') : toGatewayError(reason);
}
