import type { Sealing } from '../dialects/model/seal.ts';
import { readText } from '../http/bodies.ts';
import type { Job } from '../jobs/jobs.ts';
import type { GatewayResponse } from '../request/incoming-request.ts';
import type { AttemptRecord } from '../request/request.ts';
import type { AnswerOfUpstream } from '../upstream/failover.ts';
import { isOverLimit, UpstreamFailure } from '../upstream/failure.ts';
import { fromFault } from '../upstream/fault.ts';
import { type AskDependencies, openAttempt, type ReadyToForward, type UpstreamAttempt } from './ask-upstream.ts';
import type { AnswerRewriting, RewrittenAnswer } from './rewrite.ts';
import { noteFailure, settle, settleSpending, toCallersError } from './settle.ts';
import { fetchStream, type StreamDependencies } from './stream.ts';
import { fetchVectors } from './vectors.ts';
import { hasLeft, waitFor, whyUnusable } from './waiting.ts';

export interface ForwardDependencies extends AskDependencies, StreamDependencies {
  readonly rewriteWhole: Job<AnswerRewriting, RewrittenAnswer>;
}

/** Sends the request to an upstream, and returns its answer, whole or as a stream. */
export function createForward(
  dependencies: ForwardDependencies,
): (request: ReadyToForward) => Promise<GatewayResponse> {
  return async (request) => {
    const record: AttemptRecord = { tries: 0, usage: {} };
    request.outcome.attempt = record;
    try {
      const attempt = openAttempt(request, record, await dependencies.readScrubber(), dependencies);
      const { stream, endpoint } = request.parsed;
      const fetch = endpoint.embeddings ? fetchVectors : stream ? fetchStream : fetchWhole;
      return await fetch(attempt, dependencies);
    } catch (error) {
      const callersError = toCallersError(error, request.parsed);
      noteFailure(record, callersError);
      // A failure that a caller can provoke costs the usage that the upstream reported, although nothing of the answer goes out.
      const isCharged = callersError instanceof UpstreamFailure && callersError.status >= 500 && !callersError.refund;
      if (isCharged) await settleSpending(request, dependencies);
      throw callersError;
    }
  };
}

async function fetchWhole(attempt: UpstreamAttempt, dependencies: ForwardDependencies): Promise<GatewayResponse> {
  return waitFor(attempt, dependencies, async ({ signal, end }) => {
    const body = await readWhole(await attempt.ask({ signal }), attempt, dependencies, signal);
    end();
    const isWhole = true;
    const settled = settle(
      attempt,
      hasLeft(attempt.request) ? { kind: 'client_gone', isWhole } : { kind: 'complete' },
      dependencies,
    );
    return { body, settled };
  });
}

/** In bytes. No model writes a longer answer. */
const answerLimit = 32 * 1024 * 1024;

/** Reads an upstream's whole answer, and rewrites it for the client. */
async function readWhole(
  answer: AnswerOfUpstream,
  attempt: UpstreamAttempt,
  { rewriteWhole, now }: ForwardDependencies,
  signal: AbortSignal,
): Promise<string> {
  const { request, record, caller } = attempt;
  let length = answerLimit;
  try {
    const text = await readText(answer.body, answerLimit, request.memory.take);
    length = text.length;
    record.isWhole = true;
    const rewriting = rewritingOf(attempt, answer, await attempt.signing(answer), now());
    const { result, usage, textBytes } = await rewriteWhole(text, rewriting, { caller, signal });
    signal.throwIfAborted();
    Object.assign(record.usage, usage);
    if (attempt.countsText) record.textBytes = textBytes;
    if ('fault' in result) throw fromFault(result.fault);
    return result.text;
  } catch (cause) {
    // If it was too much to read, all of it counts as text.
    if (isOverLimit(cause)) record.textBytes = length;
    throw whyUnusable(cause, signal);
  }
}

/** The input of the job that rewrites a whole answer. */
function rewritingOf(
  attempt: UpstreamAttempt,
  { translated }: AnswerOfUpstream,
  signing: Sealing | undefined,
  now: number,
): AnswerRewriting {
  const { request, hiding, explainer, countsText } = attempt;
  const { dialect, endpoint, expected } = request.parsed;
  const { scrubber, showsGenerated, publicModel } = hiding;
  const rewriting = {
    names: scrubber.names,
    showsGenerated,
    publicModel,
    concealed: explainer.concealed(),
    countsText,
  };
  if (!translated) return { ...rewriting, dialect: dialect.name, expected, signing };
  const { answer, sealing, signsThinking } = translated;
  const count = endpoint.countsTokens ? { object: endpoint.countObject } : undefined;
  return {
    ...rewriting,
    dialect: translated.dialect.name,
    expected: { choices: 1, stops: expected.stops },
    translation: { answer, sealing, signsThinking, now, count },
  };
}
