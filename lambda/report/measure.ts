import { catalogue, type GatewayError } from '../errors.ts';
import type { AttemptRecord, RequestSoFar } from '../request/request.ts';
import type { Measured } from './metrics.ts';

const countIf = (happened: boolean | undefined): 1 | undefined => (happened ? 1 : undefined);

/** The metrics of a finished request. Preflights are not counted. */
export function measureRequest(request: RequestSoFar, status: number, duration: number): Measured {
  const { route, parsed, limitsUsed, coldStart, outcome } = request;
  const { error, end, attempt, spending, spendShare } = outcome;
  if (route.kind === 'preflight') return {};
  const isWebSocket = error?.code === 'upgrade_required';
  const isRefusal = error && end === 'refused' && !isWebSocket;
  const failure = attempt?.failure;
  /** How much of a deployment limit is used. A limit that refused the request counts as 100 % or more. */
  const shareOf = (limit: string, used: number | undefined) =>
    error?.reason === limit ? Math.max(100, used ?? 0) : used;
  return {
    requests: 1,
    errorAnswers: countIf(status >= 400),
    coldStarts: countIf(coldStart),
    dailyLimitUsed: shareOf('daily_limit', limitsUsed?.daily_limit),
    guestDailyLimitUsed: shareOf('guest_daily_limit', limitsUsed?.guest_daily_limit),
    spendShare: shareOf('spend_limit', spendShare),
    ...(spending &&
      parsed && {
        spent: { [parsed.model.id]: toCurrency(spending.cost) },
        savedByCaches: toCurrency(spending.savedByCaches),
      }),
    // With REFUND_REFUSALS, a 400 is refunded too, but is not a failure.
    refunds: countIf(outcome.refunded && error && error.status >= 500 && !isIntended(error)),
    webSocketTries: countIf(isWebSocket),
    ...(isRefusal && { refusals: { [error.code]: 1 } }),
    ...(failure !== undefined
      ? { upstreamFailures: { [failure]: 1 } }
      : { gatewayErrors: countIf(isOwnFault(request)) }),
    ...(attempt && measureAttempt(attempt, duration)),
    answersWithoutUsage: countIf(lacksUsage(request)),
  };
}

function measureAttempt(
  { timeToFirstByte, usage, tries, failure, leftOut }: AttemptRecord,
  duration: number,
): Measured {
  return {
    // The last try. Earlier tries were counted when they failed.
    ...(tries > 0 && { upstreamFailedTries: failure === undefined ? 0 : 1 }),
    duration,
    // Only for streams.
    timeToFirstByte,
    ...tokensOf(usage),
    leftOut: countIf(leftOut !== undefined),
  };
}

/** Named as in the log and the metrics. */
export function tokensOf({ input, cacheRead, cacheWrite, output, reasoning }: AttemptRecord['usage']) {
  return {
    inputTokens: input,
    cacheReadTokens: cacheRead,
    cacheWriteTokens: cacheWrite,
    outputTokens: output,
    reasoningTokens: reasoning,
  };
}

/** Inexact, so only for logs and metrics. */
export const toCurrency = (micros: number): number => micros / 1_000_000;

/** Whether a complete answer came without token counts. */
export function lacksUsage({ route, outcome: { end, attempt } }: RequestSoFar): boolean {
  if (route.kind !== 'inference' || route.endpoint.countsTokens || end !== undefined || !attempt) return false;
  return attempt.usage.input === undefined && attempt.usage.output === undefined;
}

/** Whether the gateway, its store or its operator caused the error, rather than an upstream or the caller. */
function isOwnFault({ outcome: { error }, identity }: RequestSoFar): boolean {
  if (error && isIntended(error)) return false;
  // For an identified caller, the upstream key is missing. Otherwise no key was ever issued, an error that any scanner can provoke.
  if (error?.code === 'unconfigured') return identity !== undefined;
  return error !== undefined && 'ownFault' in catalogue[error.code];
}

/** Whether the operator asked for this refusal. Then it is not a failure. */
export const isIntended = ({ reason }: GatewayError): boolean => intended.includes(reason);

const intended: readonly unknown[] = ['stopping', 'stopped', 'daily_limit', 'guest_daily_limit', 'spend_limit'];
