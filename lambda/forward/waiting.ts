import { GatewayError } from '../errors.ts';
import type { GatewayResponse } from '../request/call.ts';
import { UpstreamFailure } from '../upstream/failure.ts';
import type { Exchange } from './ask-upstream.ts';
import { type SpendingDependencies, settleSpending } from './settle.ts';

/** Aborts an upstream whose answer nobody waits for any more. */
export const clientGone = new Error('the client has gone');

/** Somebody who waits for a whole answer. */
export interface Waiting {
  /** Aborts when the client leaves, the process stops or the request's time is over. */
  readonly signal: AbortSignal;
  /** The answer has come. */
  readonly end: () => void;
}

/** Answers with the body that `fetch` returns, which says itself when that has come. */
export async function waitFor(
  { request }: Exchange,
  dependencies: SpendingDependencies & { readonly now: () => number },
  fetch: (waiting: Waiting) => Promise<GatewayResponse['body']>,
): Promise<GatewayResponse> {
  const stop = new AbortController();
  const timeLeft = Math.max(0, request.deadline - dependencies.now());
  const timer = setTimeout(() => stop.abort(new UpstreamFailure('timeout')), timeLeft);
  const end = () => clearTimeout(timer);
  whenAborted(request.clientGone, () => stop.abort(clientGone));
  whenAborted(request.cutShort, (reason) => stop.abort(reason));
  try {
    const body = await fetch({ signal: stop.signal, end });
    return { statusCode: 200, headers: { 'content-type': 'application/json' }, body };
  } catch (error) {
    end();
    if (error !== clientGone) throw error;
    request.outcome.end = 'client_gone';
    await settleSpending(request, dependencies);
    return { statusCode: 499, headers: {}, body: '' };
  }
}

/** Why an answer could not be read. */
export function whyUnusable(cause: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  return cause instanceof GatewayError ? cause : new UpstreamFailure('unusable', { cause });
}

/** Also acts if the signal has already aborted. */
export function whenAborted(signal: AbortSignal | undefined, act: (reason: unknown) => void): void {
  if (signal?.aborted) act(signal.reason);
  else signal?.addEventListener('abort', () => act(signal.reason), { once: true });
}
