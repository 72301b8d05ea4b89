import { setImmediate } from 'node:timers/promises';
import { costOf, type Prices, savedByCaches } from '../budget/prices.ts';
import { notOffered } from '../dialects/model/check-body.ts';
import { GatewayError } from '../errors.ts';
import type { SpendLimit } from '../quota/deployment-limits.ts';
import { sayWhatIsLeft } from '../quota/snapshot.ts';
import type { Log } from '../report/log.ts';
import type { AttemptRecord, ParsedRequest, RequestSoFar, Spending } from '../request/request.ts';
import type { StreamEnd } from '../stream/relay.ts';
import { UpstreamFailure } from '../upstream/failure.ts';

/** Refunds the charge if this error is free. The returned error says whether the request was charged, if that is known. */
export async function settleCharge(
  request: RequestSoFar,
  error: GatewayError,
  refundRefusals: boolean,
): Promise<GatewayError> {
  const { charge, outcome } = request;
  if (!charge) return error;
  const isRefusal = error.status === 400 && !outcome.attempt?.tries;
  if (!error.refund && !(isRefusal && refundRefusals)) {
    // A refused request costs no money. If an answer has begun, its cost is settled already.
    outcome.snapshot = (await charge.settle(0)) ?? outcome.snapshot;
    if (isRefusal) return error.withNote(`This request was charged; ${sayWhatIsLeft(charge.snapshot)}.`);
    return noteCharge(request, error);
  }
  const snapshot = await charge.refund();
  outcome.refunded = snapshot !== undefined;
  if (!snapshot) return error;
  // Where midnight has passed, the new day may have been read meanwhile.
  if (outcome.snapshot?.resetAt === snapshot.resetAt) outcome.snapshot = snapshot;
  const left = isRefusal ? `; ${sayWhatIsLeft(snapshot)}` : '';
  return error.withNote(`This request was not charged${left}.`);
}

/** Errors below 500 keep the upstream's own words, and the note comes after them. */
function noteCharge({ charge }: RequestSoFar, error: GatewayError): GatewayError {
  return charge ? error.withNote('This request was charged.') : error;
}

interface SpendingDependencies {
  readonly prices: Prices | undefined;
  /** Undefined if the operator has set no spend limit for the deployment. */
  readonly spendLimit: SpendLimit | undefined;
}

/** Settles the cost of an answer that has ended, or has failed without a refund. */
export async function settleSpending(
  request: RequestSoFar,
  { prices, spendLimit }: SpendingDependencies,
): Promise<void> {
  const { charge, outcome } = request;
  const spending = charge && prices && spendingOf(request, prices);
  if (!spending) return;
  outcome.spending = spending;
  outcome.snapshot = charge.snapshotAfter(spending.cost);
  // In the next turn of the event loop, so as not to delay the end of the answer.
  await setImmediate();
  const settled = charge.settle(spending.cost, spending.used);
  try {
    await spendLimit?.add(spending.cost);
  } finally {
    outcome.snapshot = (await settled) ?? outcome.snapshot;
  }
}

export interface SettleDependencies extends SpendingDependencies {
  readonly log: Log;
  readonly refundRefusals: boolean;
}

interface EndedAttempt {
  readonly request: RequestSoFar;
  readonly record: AttemptRecord;
}

/** Settles the charge of an answer that has begun, however it ended. Returns the error for the client, if any. */
export async function settle(
  { request, record }: EndedAttempt,
  end: StreamEnd,
  dependencies: SettleDependencies,
): Promise<GatewayError | undefined> {
  const { outcome } = request;
  const { failure } = end;
  if (end.kind !== 'complete') outcome.end = end.kind;
  record.isWhole = end.kind === 'complete' || (end.kind === 'client_gone' && end.isWhole);
  outcome.error = failure && noteCharge(request, failure);
  noteFailure(record, failure);
  // A client that disconnected gets no refund. A request that the upstream refused is free.
  const isFree = failure && (failure.status < 500 || (failure.refund && end.kind === 'failed'));
  if (isFree) outcome.error = await settleCharge(request, failure, dependencies.refundRefusals);
  else await settleSpending(request, dependencies);
  return outcome.error;
}

/** Settles a stream, and logs its request, which for streams happens only at the end. */
export async function settleStream(
  attempt: EndedAttempt,
  end: StreamEnd,
  dependencies: SettleDependencies,
): Promise<GatewayError | undefined> {
  const error = await settle(attempt, end, dependencies);
  dependencies.log.finished(attempt.request, 200);
  return error;
}

const bytesPerToken = 3;

function spendingOf({ parsed, inputTokens, outcome }: RequestSoFar, prices: Prices): Spending | undefined {
  const ofModel = parsed && prices.get(parsed.model.id);
  const { attempt } = outcome;
  if (!ofModel || !attempt) return undefined;
  const { usage, textBytes = 0, isWhole = false } = attempt;
  // If the client disconnected before an upstream was asked, the request is free.
  if (attempt.tries === 0) return { cost: 0, savedByCaches: 0 };
  // Until an answer has ended, its usage is that of its beginning. Some servers send zeros instead of counts.
  const larger = (counted = 0, estimate = 0) => (isWhole && counted > 0 ? counted : Math.max(counted, estimate));
  const input = larger(usage.input, inputTokens);
  const output = larger(usage.output, Math.ceil(textBytes / bytesPerToken));
  const billed = { ...usage, input, output };
  return {
    cost: costOf(ofModel, billed),
    savedByCaches: savedByCaches(ofModel, billed),
    used: { kind: parsed.model.kind, input, output },
  };
}

/** Turns two failures into errors that tell the caller more: an endpoint that the upstream lacks, and a reference to nothing. */
export function toCallersError(error: unknown, { endpoint, hasReferences }: ParsedRequest): unknown {
  if (!(error instanceof UpstreamFailure)) return error;
  const { upstreamStatus } = error;
  const mayLack = endpoint.countsTokens || endpoint.compacts;
  if (mayLack && (upstreamStatus === 404 || upstreamStatus === 405 || upstreamStatus === 501)) {
    return notOffered(endpoint, error);
  }
  if (upstreamStatus === 404 && hasReferences) {
    const message =
      'The request refers to an item or a file that does not exist. Send the full content instead of ids.';
    // The log still shows the upstream's 404, because it may be the model that is missing.
    return new GatewayError('invalid_request', message, { reason: error.kind, cause: error });
  }
  return error;
}

/** Records the failure that a request ended with. A caller's mistake is not a failure of the upstream. */
export function noteFailure(record: AttemptRecord, error: unknown): void {
  const translated = error instanceof GatewayError && error.reason !== undefined ? error.cause : undefined;
  for (const failure of [error, translated]) {
    if (failure instanceof UpstreamFailure && failure.status >= 500) record.failure = failure.kind;
  }
}
