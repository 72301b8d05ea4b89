import { GatewayError, toGatewayError } from '../errors.ts';
import type { GatewayResponse } from '../request/incoming-request.ts';
import { isOverLimit, UpstreamFailure } from '../upstream/failure.ts';
import type { ReadyToForward, UpstreamAttempt } from './ask-upstream.ts';
import { type SettleDependencies, settle, toCallersError } from './settle.ts';

/** Aborts an upstream whose answer nobody waits for any more. */
const clientGone = new Error('the client has gone');

export const hasLeft = (request: ReadyToForward): boolean => request.clientGone?.aborted === true;

/**
 * Whether an answer that is asked for now is read to its end even if the client leaves: for a caller with a budget, to whom leaving
 * early would else be cheaper than staying. Until an upstream is asked, leaving costs nobody anything.
 */
export function createReadsOn({ request, record }: Pick<UpstreamAttempt, 'request' | 'record'>): () => boolean {
  const pays = request.reservation !== undefined && !hasLeft(request);
  return () => pays && record.tries > 0;
}

/** Somebody who waits for a whole answer. */
export interface Waiting {
  /** Aborts when the process stops, the request's time is over or the client leaves, unless the answer is read on. */
  readonly signal: AbortSignal;
  readonly readsOn: () => boolean;
  /** The answer has come. */
  readonly end: () => void;
}

/** Answers with what `fetch` returns, which says itself when that has come. */
export async function waitFor(
  attempt: UpstreamAttempt,
  dependencies: SettleDependencies & { readonly now: () => number },
  fetch: (waiting: Waiting) => Promise<Pick<GatewayResponse, 'body' | 'settled'>>,
): Promise<GatewayResponse> {
  const { request } = attempt;
  const readsOn = createReadsOn(attempt);
  const stop = new AbortController();
  const timeLeft = Math.max(0, request.deadline - dependencies.now());
  const timer = setTimeout(() => stop.abort(new UpstreamFailure('timeout')), timeLeft);
  const end = () => clearTimeout(timer);
  whenAborted(request.clientGone, () => {
    if (!readsOn()) stop.abort(clientGone);
  });
  whenAborted(request.shutdownSignal, (reason) => stop.abort(reason));
  try {
    const answer = await fetch({ signal: stop.signal, end, readsOn });
    return { statusCode: 200, headers: { 'content-type': 'application/json' }, ...answer };
  } catch (error) {
    end();
    if (!hasLeft(request)) throw error;
    const failure = error === clientGone ? undefined : toGatewayError(toCallersError(error, request.parsed));
    await settle(attempt, { kind: 'client_gone', isWhole: false, failure }, dependencies);
    return { statusCode: 499, headers: {}, body: '' };
  }
}

/** Why an answer could not be read. */
export function whyUnusable(cause: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  const charged = isOverLimit(cause);
  return cause instanceof GatewayError && !charged ? cause : new UpstreamFailure('unusable', { cause, charged });
}

/** Also acts if the signal has already aborted. */
export function whenAborted(signal: AbortSignal | undefined, act: (reason: unknown) => void): void {
  if (signal?.aborted) act(signal.reason);
  else signal?.addEventListener('abort', () => act(signal.reason), { once: true });
}
