import { randomUUID } from 'node:crypto';
import { GatewayError } from '../errors.ts';
import { describeCause, type Log } from '../report/log.ts';
import type { GatewayResponse } from '../request/call.ts';
import type { ExchangeRecord, InferenceCall, Normalized, RequestSoFar } from '../request/request.ts';
import type { Hiding } from '../stream/hide.ts';
import type { Scrubber } from '../stream/scrub.ts';
import { createRawThoughts } from '../translate/answer/raw-thoughts.ts';
import type { AnswerOfUpstream, AskUpstreams, Translated } from '../upstream/failover.ts';
import { UpstreamFailure } from '../upstream/failure.ts';
import type { Explainer } from './explain.ts';

/** A request that is checked, charged and ready to be sent. */
export type ReadyToForward = RequestSoFar & Normalized;

/** Brings one kind of answer from an upstream to the client. */
export type BringAnswer = (
  request: ReadyToForward,
  record: ExchangeRecord,
  scrubber: Scrubber,
) => Promise<GatewayResponse>;

export interface AskDependencies {
  readonly askUpstreams: AskUpstreams;
  readonly log: Log;
}

/** The client that waits for the answer. */
interface Waiting {
  /** Aborts when nobody waits any more. */
  readonly signal: AbortSignal;
  /** Called when a try has failed, which is a sign of life too. */
  readonly alive?: () => void;
}

export type AskForRequest = (
  request: ReadyToForward,
  record: ExchangeRecord,
  explainer: Explainer,
  waiting: Waiting,
) => Promise<AnswerOfUpstream>;

/**
 * Sends a request to the upstreams, and notes down each try. The body is released when an answer begins or none will come, if not
 * earlier. (A closure keeps alive all that its neighbours in the same function use, so the closures of a stream are made elsewhere.)
 */
export function createAsk({ askUpstreams, log }: AskDependencies): AskForRequest {
  return ({ id, outgoing, memory }, record, explainer, { signal, alive }) => {
    const releaseBody = () => {
      outgoing.body = undefined;
      memory.leave();
    };
    const asking = askUpstreams(outgoing, {
      signal,
      releaseBody,
      explain: explainer.sentenceIn,
      takeMemory: memory.take,
      onTry: ({ upstream, secrets }, translation) => {
        record.tries += 1;
        record.upstream = upstream.prefix;
        record.translated = translation !== undefined;
        record.leftOut = translation?.leftOut;
        for (const secret of secrets) explainer.conceal(secret);
      },
      onFailure: ({ kind, upstreamStatus, cause, failureClass }, { upstream }, another) => {
        alive?.();
        record.upstreamStatus = upstreamStatus;
        // The request's own line reports and counts the last one.
        if (!failureClass.refunds || !another) return;
        const fields = { requestId: id, upstream: upstream.prefix, kind, upstreamStatus, another };
        log.triedInVain(kind, { ...fields, ...describeCause(cause) });
      },
    });
    return asking.finally(releaseBody);
  };
}

/** What reads an answer that is translated, hides in it, and writes it for the client. */
export function openTranslation(
  { dialect, translation }: Translated,
  { call }: ReadyToForward,
  { usage }: ExchangeRecord,
  hiding: Hiding,
  now: () => number,
) {
  const { stops } = call.expected;
  const { onRead, onText, take: takeThought } = createRawThoughts();
  const writer = translation.createWriter({
    ...{ live: call.stream, model: call.model.id, usage, now, takeThought },
    newHex: () => randomUUID().replaceAll('-', ''),
  });
  const hearing: Hiding = {
    ...{ ...hiding, onRead },
    onText(text, channel) {
      hiding.onText?.(text, channel);
      onText(text, channel);
    },
  };
  return { format: { dialect, expected: { choices: 1, stops } }, hiding: hearing, writer, stops };
}

/** On some endpoints two failures mean something else to the caller. */
export function toCallersError(error: unknown, { endpoint, hasReferences }: InferenceCall): unknown {
  if (!(error instanceof UpstreamFailure)) return error;
  const { upstreamStatus } = error;
  if (endpoint.optional && (upstreamStatus === 404 || upstreamStatus === 405 || upstreamStatus === 501)) {
    return new GatewayError('not_found', 'Counting tokens is not offered here.', { cause: error });
  }
  if (upstreamStatus === 404 && hasReferences) {
    const message =
      'The request refers to an item or a file that does not exist. Send the full content instead of ids.';
    // The log still shows the upstream's 404: the model may be what is missing.
    return new GatewayError('invalid_request', message, { reason: error.kind, cause: error });
  }
  return error;
}

/** Notes down the failure that a request ended with. A caller's mistake does not count as a failure of the upstream. */
export function noteFailure(record: ExchangeRecord, error: unknown): void {
  const translated = error instanceof GatewayError && error.reason !== undefined ? error.cause : undefined;
  for (const failure of [error, translated]) {
    if (failure instanceof UpstreamFailure && failure.status >= 500) record.failure = failure.kind;
  }
}

/** Counts the generated text, for answers without usage. */
export function countText(record: ExchangeRecord): (text: string) => void {
  return (text) => {
    record.textBytes = (record.textBytes ?? 0) + Buffer.byteLength(text);
  };
}

/** Also acts if the signal has already aborted. */
export function whenAborted(signal: AbortSignal | undefined, act: (reason: unknown) => void): void {
  if (signal?.aborted) act(signal.reason);
  else signal?.addEventListener('abort', () => act(signal.reason), { once: true });
}
