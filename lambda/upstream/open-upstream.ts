import type { Readable } from 'node:stream';
import type { Conversation } from './affinity.ts';
import { classifyStatus } from './classify-status.ts';
import type { SendRequest, UpstreamAnswer } from './exchange.ts';
import { type FailureClass, failureClasses, UpstreamFailure } from './failure.ts';
import { letGo } from './let-go.ts';
import type { Candidate, Pool } from './pool.ts';
import { readBody } from './read-body.ts';
import type { UpstreamRequest } from './request.ts';
import { readRetryAfter } from './retry-after.ts';

interface Dependencies {
  readonly pool: Pool;
  readonly send: SendRequest;
  readonly now: () => number;
}

/** What differs from request to request. */
export interface Attempt {
  build(candidate: Candidate): UpstreamRequest;
  /** Finds the sentence for the client in an upstream's error body. */
  explain(body: string): string | undefined;
  readonly signal: AbortSignal;
  readonly conversation: Conversation;
  /** Whether the body brings back what only the account that made it can read. */
  isAccountBound(): Promise<boolean>;
  /** Called for each try that failed, with whether another follows. */
  onFailure(failure: UpstreamFailure, candidate: Candidate, another: boolean): void;
}

/** Opens an upstream that answers with success, or throws the failure of the last that was tried. */
export type OpenUpstream = (attempt: Attempt) => Promise<UpstreamAnswer>;

export function createOpenUpstream({ pool, send, now }: Dependencies): OpenUpstream {
  const tryOne = async (candidate: Candidate, { build, explain, signal }: Attempt): Promise<UpstreamAnswer> => {
    const answer = await send(build(candidate), signal);
    const { status, headers, body } = answer;
    const kind = classifyStatus(status);
    if (kind === undefined) return answer;
    const retryAfter = readRetryAfter(headers['retry-after'], now());
    const shouldRetry = readShouldRetry(headers['x-should-retry']);
    const details = { status, retryAfter, shouldRetry };
    const { callers }: FailureClass = failureClasses[kind];
    // Only what a caller can mend is explained in the upstream's words; anything else may tell of the deployment.
    if (callers) throw new UpstreamFailure(kind, { ...details, message: explain(await readExplanation(body)) });
    letGo(body);
    throw new UpstreamFailure(kind, details);
  };

  return async (attempt) => {
    const { signal } = attempt;
    let left: readonly Candidate[] = await pool.candidates(attempt.conversation);
    let first: UpstreamFailure | undefined;
    let movedOnce = false;
    for (;;) {
      signal.throwIfAborted();
      const [candidate, ...others] = left;
      if (candidate === undefined) throw new UpstreamFailure('credentials');
      try {
        return await tryOne(candidate, attempt);
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof UpstreamFailure)) throw error;
        // Made for the account that failed, it is foreign to any other: that is no mistake of the caller's.
        if (first && error.failureClass.mayBeForeign && (await attempt.isAccountBound())) throw first;
        first ??= error;
        const { next, rests, once = false } = error.failureClass;
        if (rests) pool.rest(candidate, error);
        left = stillToTry(others, candidate, once && movedOnce ? 'nothing' : next);
        movedOnce ||= once;
        const another = left.length > 0;
        attempt.onFailure(error, candidate, another);
        if (!another) throw error;
      }
    }
  };
}

/** Who is left to ask. An upstream that failed has failed for all of its keys. */
function stillToTry(
  others: readonly Candidate[],
  { upstream: failed }: Candidate,
  next: FailureClass['next'],
): readonly Candidate[] {
  if (next === 'nothing') return [];
  return next === 'key' ? others : others.filter(({ upstream }) => upstream !== failed);
}

/** SDKs obey it, and know of no other value. */
function readShouldRetry(value: unknown): 'true' | 'false' | undefined {
  return value === 'true' || value === 'false' ? value : undefined;
}

const longestExplanation = 65_536;
const explanationTime = 2_000;

/** An error body, as far as there is one soon. */
async function readExplanation(body: Readable): Promise<string> {
  const timer = setTimeout(() => body.destroy(), explanationTime);
  try {
    return await readBody(body, longestExplanation);
  } catch {
    return '';
  } finally {
    clearTimeout(timer);
  }
}
