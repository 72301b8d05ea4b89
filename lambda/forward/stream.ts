import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Sealing } from '../dialects/model/seal.ts';
import type { GatewayResponse } from '../request/incoming-request.ts';
import { createRelay } from '../stream/relay.ts';
import { createStreamRewriter, type StreamRewriter } from '../stream/rewrite-stream.ts';
import type { AnswerOfUpstream } from '../upstream/failover.ts';
import type { Translated } from '../upstream/upstream-request.ts';
import type { UpstreamAttempt } from './ask-upstream.ts';
import { type SettleDependencies, settleStream, toCallersError } from './settle.ts';
import { createShouldDrain, whenAborted } from './waiting.ts';

export interface StreamDependencies extends SettleDependencies {
  readonly now: () => number;
  readonly idleTimeout: number;
  readonly keepAliveInterval: number;
  readonly loadTranslating: () => Promise<{
    readonly createTranslator: CreateTranslator;
    readonly createSigned: CreateSigned;
  }>;
}

/** Creates the rewriter of a stream with reasoning whose signatures the upstream checks when it comes back. */
export type CreateSigned = (attempt: UpstreamAttempt, signing: Sealing) => StreamRewriter;

/** Creates the rewriter that translates a stream from the upstream's dialect to the client's. */
type CreateTranslator = (attempt: UpstreamAttempt, translated: Translated, now: () => number) => StreamRewriter;

/** Asks for a stream and relays it. Resolves when the stream begins. */
export async function fetchStream(
  attempt: UpstreamAttempt,
  dependencies: StreamDependencies,
): Promise<GatewayResponse> {
  const { request, record, hiding } = attempt;
  const { now, idleTimeout, keepAliveInterval } = dependencies;
  const relay = createRelay({
    dialect: request.parsed.dialect,
    explain: hiding.explain,
    idleTimeout,
    keepAliveInterval,
    timeLeft: Math.max(0, request.deadline - now()),
    shouldDrain: createShouldDrain(attempt),
    onFirstEvent: () => {
      record.timeToFirstByte = now() - request.startedAt;
    },
    onEnd: (end) => settleStream(attempt, end, dependencies),
  });
  whenAborted(request.clientGone, relay.leave);
  whenAborted(request.shutdownSignal, relay.fail);
  const attach = async (answer: AnswerOfUpstream) => {
    const { body, translated } = answer;
    // An untranslated stream is all strings, which saves a copy.
    if (!translated) relay.body.setEncoding('utf8');
    relay.attach(body, await createRewriter(attempt, answer, dependencies));
  };
  attempt
    .ask(relay)
    .then(attach)
    .catch((error) => relay.fail(toCallersError(error, request.parsed)));
  // Compiled while the upstream is thinking, when nobody waits for it.
  nextTurn().then(hiding.scrubber.prepareChannels);
  await relay.begun;
  return { statusCode: 200, headers: { 'content-type': 'text/event-stream; charset=utf-8' }, body: relay.body };
}

async function createRewriter(
  attempt: UpstreamAttempt,
  answer: AnswerOfUpstream,
  { now, loadTranslating }: StreamDependencies,
): Promise<StreamRewriter> {
  const { request, record, hiding } = attempt;
  const { translated } = answer;
  if (translated) return (await loadTranslating()).createTranslator(attempt, translated, now);
  const signing = await attempt.signing(answer);
  if (signing) return (await loadTranslating()).createSigned(attempt, signing);
  return createStreamRewriter(request.parsed, hiding, record.usage);
}
