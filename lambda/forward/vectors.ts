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

/** Passes an answer of vectors on while it comes. */
export async function fetchVectors(attempt: UpstreamAttempt, dependencies: Dependencies): Promise<GatewayResponse> {
  return waitFor(attempt, dependencies, async (waiting) => {
    const { body: answer } = await attempt.ask(waiting);
    const client = createClient(answer, waiting.readsOn, dependencies.now);
    whenAborted(attempt.request.clientGone, () => client.body.destroy());
    void passOn(answer, client, attempt, waiting, dependencies);
    await client.begun;
    return { body: client.body };
  });
}

/** Never rejects. An answer that breaks off once it has begun ends with its error, and so is no JSON. */
async function passOn(
  answer: Readable,
  client: Client,
  attempt: UpstreamAttempt,
  { signal, end, readsOn }: Waiting,
  dependencies: Dependencies,
): Promise<void> {
  const { request, record, hiding } = attempt;
  // A piece is short enough to be read at once.
  const rewriter = createVectorsRewriter((text) =>
    rewriteAnswer(scanLeniently(createScanner(), text), request.parsed, hiding, record.usage),
  );
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
  const ended = endOf(failure, hasLeft(request) || client.body.destroyed, readsOn());
  // Only the word about a failure waits until it is settled.
  if (ended.kind === 'complete') client.end();
  const error = await settleStream(attempt, ended, dependencies).catch(() => undefined);
  if (error) client.write(Buffer.from(`\n${request.parsed.dialect.renderError(error)}`));
  client.end();
  client.close();
}

/** How an answer has ended. If nobody reads on when its client has left, that is no failure. */
function endOf(failure: GatewayError | undefined, hasGone: boolean, readsOn: boolean): StreamEnd {
  if (hasGone) return { kind: 'client_gone', isWhole: failure === undefined, ...(readsOn && { failure }) };
  return failure ? { kind: 'failed', failure } : { kind: 'complete' };
}

/** Milliseconds of holding the upstream back after which a client is behind. */
const behindAfter = 100;

type Client = ReturnType<typeof createClient>;

/** Who reads the answer. A client that has not taken what came holds the upstream back; one that leaves frees it, unless it is read on. */
function createClient(answer: Readable, readsOn: () => boolean, now: () => number) {
  const begun = Promise.withResolvers<void>();
  const settled = Promise.withResolvers<void>();
  /** While it holds the upstream back: resolves when it reads on, or nobody needs to wait for that any more. */
  let held: PromiseWithResolvers<void> | undefined;
  let hasBegun = false;
  let wasBehind = false;
  const body = new Readable({
    highWaterMark: 65_536,
    read: () => held?.resolve(),
    destroy(_error, done) {
      held?.resolve();
      if (!readsOn()) answer.destroy();
      // Its reader may have left before the end, so nothing that follows is an error.
      settled.promise.then(() => done(null));
    },
  });
  answer.once('close', () => held?.resolve());
  return {
    body,
    /** Resolves when the answer begins; rejects with what keeps it from that. */
    begun: begun.promise,
    hasBegun: () => hasBegun,
    wasBehind: () => wasBehind,
    write(bytes: Buffer): void {
      if (bytes.length === 0) return;
      hasBegun = true;
      begun.resolve();
      if (!body.destroyed && !body.push(bytes)) held = Promise.withResolvers();
    },
    /** Resolves when the client takes more. */
    async ready(): Promise<void> {
      const heldSince = now();
      await held?.promise;
      wasBehind ||= now() - heldSince > behindAfter;
    },
    refuse(reason: unknown): void {
      begun.reject(reason);
      settled.resolve();
    },
    /** Nothing more is written. */
    end(): void {
      if (!body.destroyed) body.push(null);
    },
    /** Nothing more happens: now the body may close. */
    close: settled.resolve,
  };
}

/** Why an answer broke off. A client must not get a refund by reading slowly. */
function whyBroken(cause: unknown, { aborted, reason }: AbortSignal, charged: boolean): GatewayError {
  if (!aborted) return new UpstreamFailure('cut', { cause, charged });
  return reason instanceof UpstreamFailure ? new UpstreamFailure('deadline') : toGatewayError(reason);
}
