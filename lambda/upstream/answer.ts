import type { Readable } from 'node:stream';
import { readText } from '../bodies.ts';
import { classifyStatus, type FailureClass, failureClasses, UpstreamFailure } from './failure.ts';
import { discard, type UpstreamAnswer } from './http-client.ts';
import type { Translated } from './request.ts';

/** An upstream's answer, and how it becomes one for the client if that asked in another dialect. */
export interface AnswerOfUpstream extends UpstreamAnswer {
  readonly translated: Translated | undefined;
}

/**
 * Throws the failure that an answer's status means; returns an answer that is a success. `explain` finds the message for the client in
 * an error body.
 */
export async function refuseFailed(
  answer: AnswerOfUpstream,
  explain: (body: string) => string | undefined,
  now: () => number,
): Promise<AnswerOfUpstream> {
  const { status, headers, body, translated } = answer;
  const kind = classifyStatus(status);
  if (kind === undefined) return answer;
  const retryAfter = readRetryAfter(headers['retry-after'], now());
  const details = { status, retryAfter, shouldRetry: readShouldRetry(headers['x-should-retry']) };
  const { callerCanFix }: FailureClass = failureClasses[kind];
  // The upstream's own words reach the client only for errors that the caller can fix: others may reveal the deployment.
  if (callerCanFix) {
    const explanation = await readExplanation(body);
    const message = explain(explanation);
    const context = translated?.translation.explainContext(explanation, message ?? '');
    throw new UpstreamFailure(kind, { ...details, message, ...context });
  }
  discard(body);
  throw new UpstreamFailure(kind, details);
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
    return await readText(body, longestExplanation);
  } catch {
    return '';
  } finally {
    clearTimeout(timer);
  }
}

/** The whole seconds that a `Retry-After` header asks for, in either of its two forms; undefined for anything else. */
export function readRetryAfter(header: string | undefined, now: number): number | undefined {
  const value = header?.trim() ?? '';
  const seconds = /^\d+(\.\d+)?$/.test(value) ? Number(value) : secondsUntil(value, now);
  return seconds <= longest ? Math.ceil(seconds) : undefined;
}

/** In seconds: a month, after which quotas begin anew. A server that asks for more means something else. */
const longest = 31 * 86_400;

function secondsUntil(date: string, now: number): number {
  return / GMT$/.test(date) ? Math.max(0, (Date.parse(date) - now) / 1000) : Number.NaN;
}
