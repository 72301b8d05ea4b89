import type { KeyObject } from 'node:crypto';
import type { Sealing } from '../dialects/model/seal.ts';
import type { Scrubber } from '../hiding/scrub.ts';
import { describeCause, type Log } from '../report/log.ts';
import type { AttemptRecord, Normalized, RequestSoFar } from '../request/request.ts';
import type { Rewriting } from '../stream/rewrite-answer.ts';
import type { AnswerOfUpstream, AskUpstreams } from '../upstream/failover.ts';
import { bodyOf } from '../upstream/upstream-request.ts';
import { createExplainer } from './explain.ts';

/** A request that has been checked and charged, and is ready to be sent. */
export type ReadyToForward = RequestSoFar & Normalized;

export interface AskDependencies {
  readonly askUpstreams: AskUpstreams;
  /** The scrubber that hides the upstreams' names, current keys and secret headers. */
  readonly readScrubber: () => Promise<Scrubber>;
  readonly hideInText: 'names' | 'none';
  readonly readSealSalt: () => Promise<KeyObject>;
  readonly log: Log;
}

export type UpstreamAttempt = ReturnType<typeof openAttempt>;

/** Who waits for the answer. */
interface Asker {
  /** Aborts when nobody waits any more. */
  readonly signal: AbortSignal;
  /** Called when a try fails: the answer is still under way, so the idle timeout starts again. */
  readonly alive?: () => void;
}

/**
 * Prepares to ask upstreams for one request. Each try is recorded in `record`. The body is released at the latest when an answer begins
 * or none will come.
 */
export function openAttempt(
  request: ReadyToForward,
  record: AttemptRecord,
  scrubber: Scrubber,
  { askUpstreams, readScrubber, hideInText, readSealSalt, log }: AskDependencies,
) {
  const { id, parsed, outgoing, memory } = request;
  const { caller } = bodyOf(outgoing).conversation;
  const explainer = createExplainer(scrubber);
  /** Hides the token of the last try too, which may be newer than the scrubber. */
  let renewed: Promise<Scrubber> | undefined;
  let keptForAnswer = 0;
  const releaseBody = () => {
    outgoing.body = undefined;
    memory.leaveAllBut(keptForAnswer);
  };
  /** Resolves with the first answer of an upstream. */
  const ask = ({ signal, alive }: Asker): Promise<AnswerOfUpstream> => {
    const asking = askUpstreams(outgoing, {
      signal,
      releaseBody,
      explain: explainer.sentenceIn,
      takeMemory: memory.take,
      onTry: ({ upstream, secrets }, { translated, leftOut }) => {
        record.tries += 1;
        record.upstream = upstream.prefix;
        record.translated = translated !== undefined;
        record.reasoningRefused = translated?.reasoning === 'refused';
        keptForAnswer = translated?.answer.keptBytes ?? 0;
        record.leftOut = leftOut?.leftOut;
        record.leftOutForLog = leftOut?.leftOutForLog;
        for (const secret of secrets) explainer.conceal(secret);
        if (upstream.tokenRegion !== undefined) renewed = readScrubber().catch(() => scrubber);
      },
      onFailure: ({ kind, upstreamStatus, cause, failureClass }, { upstream }, another) => {
        alive?.();
        record.upstreamStatus = upstreamStatus;
        // The last failure is reported and counted by the request's own log line.
        if (failureClass.staysCharged || !another) return;
        const fields = { requestId: id, upstream: upstream.prefix, kind, upstreamStatus, another };
        log.tryFailed(kind, { ...fields, ...describeCause(cause) });
      },
    });
    return asking.finally(releaseBody).then(async (answer) => {
      if (renewed) hiding.scrubber = await renewed;
      return answer;
    });
  };
  // With prices, the model's output is counted, in case the answer has no usage.
  const countsText = request.inputTokens !== undefined;
  const count = (text: string) => {
    record.textBytes = (record.textBytes ?? 0) + Buffer.byteLength(text);
  };
  const hiding: Rewriting & { scrubber: Scrubber } = {
    scrubber,
    showsGenerated: hideInText === 'none',
    publicModel: parsed.model.id,
    explain: explainer.sentence,
    ...(countsText && { onText: count, onToolArguments: count }),
  };
  /** Present if the upstream checks the signatures of this answer. Seals replace those that hiding invalidates. */
  const signing = async ({ translated, signsThinking }: AnswerOfUpstream): Promise<Sealing | undefined> =>
    signsThinking && !translated && parsed.dialect.hasSignatures ? { salt: await readSealSalt(), caller } : undefined;
  return { request, record, caller, ask, hiding, explainer, countsText, signing };
}
