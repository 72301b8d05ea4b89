import type { Readable } from 'node:stream';
import { explainContext } from '../dialects/model/answer/context-error.ts';
import { removePlaces } from '../dialects/model/answer/remove-places.ts';
import { readText } from '../http/bodies.ts';
import { type FailureClass, type FailureKind, failureClasses, UpstreamFailure } from './failure.ts';
import { discard, type UpstreamAnswer } from './http-client.ts';
import type { Translated } from './upstream-request.ts';

/** Turns an upstream's error response into a failure. `explain` extracts the message for the client from an error body. */
export async function failureOf(
  kind: FailureKind,
  { status, headers, body }: UpstreamAnswer,
  translated: Translated | undefined,
  explain: (body: string) => string | undefined,
  now: number,
): Promise<UpstreamFailure> {
  const retryAfter = readRetryAfter(headers['retry-after'], now);
  const details = { status, retryAfter, shouldRetry: readShouldRetry(headers['x-should-retry']) };
  const { callerCanFix }: FailureClass = failureClasses[kind];
  if (!callerCanFix) {
    discard(body);
    return new UpstreamFailure(kind, details);
  }
  // The client gets the upstream's own message only for errors that the caller can fix: others may reveal the deployment.
  const explanation = await readExplanation(body);
  const explained = explain(explanation);
  const message = translated && explained ? removePlaces(explained) : explained;
  const context = translated && explainContext(translated.answer.contextWords, explanation, message ?? '');
  const { dialect, reasoning } = translated ?? {};
  const refusesReasoning =
    status === 400 && reasoning === 'sent' && dialect?.refusedReasoning?.test(explanation) === true;
  return new UpstreamFailure(kind, { ...details, message, refusesReasoning, ...context });
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

/** Parses a `Retry-After` header, in seconds or as a date, to whole seconds; undefined if it is invalid. */
export function readRetryAfter(header: string | undefined, now: number): number | undefined {
  const value = header?.trim() ?? '';
  const seconds = /^\d+(\.\d+)?$/.test(value) ? Number(value) : secondsUntil(value, now);
  return seconds <= longest ? Math.ceil(seconds) : undefined;
}

/** In seconds: a month, after which any quota is renewed. A server that asks for more means something else. */
const longest = 31 * 86_400;

function secondsUntil(date: string, now: number): number {
  return / GMT$/.test(date) ? Math.max(0, (Date.parse(date) - now) / 1000) : Number.NaN;
}
