import type { Readable } from 'node:stream';
import { classifyStatus } from './classify-status.ts';
import type { SendRequest, UpstreamAnswer } from './exchange.ts';
import { type FailureClass, UpstreamFailure } from './failure.ts';
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
    // Only what a caller can mend is explained in the upstream's words; anything else may tell of the deployment.
    if (kind === 'caller' || kind === 'too_large') {
      throw new UpstreamFailure(kind, { status, retryAfter, message: explain(await readExplanation(body)) });
    }
    letGo(body);
    throw new UpstreamFailure(kind, { status, retryAfter });
  };

  return async (attempt) => {
    const { signal } = attempt;
    const candidates = await pool.candidates();
    let refusals = 0;
    for (let index = 0; ; ) {
      signal.throwIfAborted();
      const candidate = candidates[index];
      if (candidate === undefined) throw new UpstreamFailure('credentials');
      try {
        return await tryOne(candidate, attempt);
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof UpstreamFailure)) throw error;
        const { next, rests } = error.failureClass;
        if (rests) pool.rest(candidate, error);
        // A 403 may be about what one caller wrote: it moves on once, or that caller could walk through all keys.
        if (error.kind === 'forbidden') refusals += 1;
        index = nextIndex(candidates, index, refusals > 1 ? 'nothing' : next);
        const another = index < candidates.length;
        attempt.onFailure(error, candidate, another);
        if (!another) throw error;
      }
    }
  };
}

/** Where the next try is made; past the end where there is none. The last key of an upstream is followed by the next upstream's. */
function nextIndex(candidates: readonly Candidate[], index: number, next: FailureClass['next']): number {
  if (next === 'nothing') return candidates.length;
  if (next === 'key') return index + 1;
  const failed = candidates[index]?.upstream;
  const other = candidates.findIndex(({ upstream }, at) => at > index && upstream !== failed);
  return other < 0 ? candidates.length : other;
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
