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

/** The part that differs from request to request. */
export interface Attempt {
  build(candidate: Candidate): UpstreamRequest;
  /** Extracts the message for the client from an upstream's error body. */
  explain(body: string): string | undefined;
  readonly signal: AbortSignal;
  readonly conversation: Conversation;
  /** Whether the body contains something that only the account that created it can read. */
  isAccountBound(): Promise<boolean>;
  /** Frees the body, from which nothing is built after that. */
  forgetBody(): void;
  /** Called for each failed try; `another` says whether one more follows. */
  onFailure(failure: UpstreamFailure, candidate: Candidate, another: boolean): void;
}

/** Returns the first successful answer, or throws the failure of the last upstream tried. */
export type OpenUpstream = (attempt: Attempt) => Promise<UpstreamAnswer>;

export function createOpenUpstream({ pool, send, now }: Dependencies): OpenUpstream {
  const tryOne = async (
    candidate: Candidate,
    { build, explain, signal, forgetBody }: Attempt,
    isLast: boolean,
  ): Promise<UpstreamAnswer> => {
    const answer = await send(build(candidate), signal, isLast ? forgetBody : undefined);
    const { status, headers, body } = answer;
    const kind = classifyStatus(status);
    if (kind === undefined) return answer;
    const retryAfter = readRetryAfter(headers['retry-after'], now());
    const shouldRetry = readShouldRetry(headers['x-should-retry']);
    const details = { status, retryAfter, shouldRetry };
    const { callers }: FailureClass = failureClasses[kind];
    // The upstream's own words reach the client only for errors that the caller can fix: others may reveal the deployment.
    if (callers) throw new UpstreamFailure(kind, { ...details, message: explain(await readExplanation(body)) });
    letGo(body);
    throw new UpstreamFailure(kind, details);
  };

  return async (attempt) => {
    const { signal } = attempt;
    let left: readonly Candidate[] = await pool.candidates(attempt.conversation);
    let first: UpstreamFailure | undefined;
    let isAccountBound = false;
    let movedOnce = false;
    for (;;) {
      signal.throwIfAborted();
      const [candidate, ...others] = left;
      if (candidate === undefined) throw new UpstreamFailure('credentials');
      try {
        return await tryOne(candidate, attempt, others.length === 0);
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof UpstreamFailure)) throw error;
        // Another account can't read what the first one created. That is not the caller's mistake, so the first failure counts.
        if (first && error.failureClass.mayBeForeign && isAccountBound) throw first;
        const { next, rests, once = false } = error.failureClass;
        if (rests) pool.rest(candidate, error);
        left = stillToTry(others, candidate, once && movedOnce ? 'nothing' : next);
        movedOnce ||= once;
        const another = left.length > 0;
        attempt.onFailure(error, candidate, another);
        if (!another) throw error;
        // Now, because the next try may let go of the body.
        if (!first) isAccountBound = await attempt.isAccountBound();
        first ??= error;
      }
    }
  };
}

/** The candidates left. When the upstream itself failed, all of its keys are out. */
function stillToTry(
  others: readonly Candidate[],
  { upstream: failed }: Candidate,
  next: FailureClass['next'],
): readonly Candidate[] {
  if (next === 'nothing') return [];
  return next === 'key' ? others : others.filter(({ upstream }) => upstream !== failed);
}

/** The values that SDKs understand. */
function readShouldRetry(value: unknown): 'true' | 'false' | undefined {
  return value === 'true' || value === 'false' ? value : undefined;
}

const longestExplanation = 65_536;
const explanationTime = 2_000;

/** The error body, or an empty text if it does not arrive soon. */
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
