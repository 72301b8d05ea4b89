import { GatewayError, toGatewayError } from '../errors.ts';
import type { GatewayResponse } from '../request/incoming-request.ts';
import { isOverLimit, UpstreamFailure } from '../upstream/failure.ts';
import type { ReadyToForward, UpstreamAttempt } from './ask-upstream.ts';
import { type SettleDependencies, settle, toCallersError } from './settle.ts';

/** The abort reason when the client has disconnected. */
const clientGone = new Error('the client has gone');

export const hasLeft = (request: ReadyToForward): boolean => request.clientGone?.aborted === true;

/**
 * Whether to drain the upstream's answer if the client disconnects. Done for callers with a budget: otherwise disconnecting early would be
 * cheaper than staying. Until an upstream is asked, disconnecting costs nothing.
 */
export function createShouldDrain({ request, record }: Pick<UpstreamAttempt, 'request' | 'record'>): () => boolean {
  const pays = request.reservation !== undefined && !hasLeft(request);
  return () => pays && record.tries > 0;
}

/** What fetching a whole answer needs to know. */
export interface Waiting {
  /** Aborts on shutdown, at the request's deadline, or when the client disconnects, unless the answer is drained. */
  readonly signal: AbortSignal;
  readonly shouldDrain: () => boolean;
  /** Stops the deadline: the answer has arrived. */
  readonly end: () => void;
}

/** Runs `fetch` under the request's deadline, and answers with what it returns. `fetch` calls `end` when the answer has arrived. */
export async function waitFor(
  attempt: UpstreamAttempt,
  dependencies: SettleDependencies & { readonly now: () => number },
  fetch: (waiting: Waiting) => Promise<Pick<GatewayResponse, 'body' | 'settled'>>,
): Promise<GatewayResponse> {
  const { request } = attempt;
  const shouldDrain = createShouldDrain(attempt);
  const stop = new AbortController();
  const timeLeft = Math.max(0, request.deadline - dependencies.now());
  const timer = setTimeout(() => stop.abort(new UpstreamFailure('timeout')), timeLeft);
  const end = () => clearTimeout(timer);
  whenAborted(request.clientGone, () => {
    if (!shouldDrain()) stop.abort(clientGone);
  });
  whenAborted(request.shutdownSignal, (reason) => stop.abort(reason));
  try {
    const answer = await fetch({ signal: stop.signal, end, shouldDrain });
    return { statusCode: 200, headers: { 'content-type': 'application/json' }, ...answer };
  } catch (error) {
    end();
    if (!hasLeft(request)) throw error;
    const failure = error === clientGone ? undefined : toGatewayError(toCallersError(error, request.parsed));
    await settle(attempt, { kind: 'client_gone', isWhole: false, failure }, dependencies);
    return { statusCode: 499, headers: {}, body: '' };
  }
}

/** The error for an answer that could not be read. */
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
