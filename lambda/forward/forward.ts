import { readText } from '../bodies.ts';
import { GatewayError } from '../errors.ts';
import { runCooperatively } from '../json/cooperative.ts';
import type { GatewayResponse } from '../request/call.ts';
import type { ExchangeRecord } from '../request/request.ts';
import { createRelay, type StreamEnd } from '../stream/relay.ts';
import type { Scrubber } from '../stream/scrub.ts';
import type { AnswerOfUpstream } from '../upstream/failover.ts';
import { UpstreamFailure } from '../upstream/failure.ts';
import { type AskDependencies, type Exchange, openExchange, type ReadyToForward } from './ask-upstream.ts';
import { createRewriter, rewriteWhole } from './rewrite.ts';
import { noteFailure, type SpendingDependencies, settleCharge, settleSpending, toCallersError } from './settle.ts';

export interface ForwardDependencies extends AskDependencies, SpendingDependencies {
  /** What hides the upstreams' names, and the keys and secret headers that they are sent now. */
  readonly readScrubber: () => Promise<Scrubber>;
  readonly now: () => number;
  readonly idleTimeout: number;
  readonly keepAliveInterval: number;
  readonly refundRefusals: boolean;
}

/** Sends the request to an upstream and brings its answer back, as a whole or as a stream. */
export function createForward(
  dependencies: ForwardDependencies,
): (request: ReadyToForward) => Promise<GatewayResponse> {
  return async (request) => {
    const record: ExchangeRecord = { tries: 0, usage: {} };
    request.outcome.exchange = record;
    try {
      const exchange = openExchange(request, record, await dependencies.readScrubber(), dependencies);
      return await (request.call.stream ? fetchStream : fetchWhole)(exchange, dependencies);
    } catch (error) {
      const callersError = toCallersError(error, request.call);
      noteFailure(record, callersError);
      throw callersError;
    }
  };
}

/** Aborts an upstream whose answer nobody waits for any more. */
const clientGone = new Error('the client has gone');

async function fetchWhole(exchange: Exchange, dependencies: ForwardDependencies): Promise<GatewayResponse> {
  const { request } = exchange;
  const { now } = dependencies;
  const stop = new AbortController();
  const timeLeft = Math.max(0, request.deadline - now());
  const timer = setTimeout(() => stop.abort(new UpstreamFailure('timeout')), timeLeft);
  whenAborted(request.clientGone, () => stop.abort(clientGone));
  whenAborted(request.cutShort, (reason) => stop.abort(reason));
  try {
    const body = await readWhole(await exchange.ask(stop), exchange, now, stop.signal);
    await settleSpending(request, dependencies);
    return { statusCode: 200, headers: { 'content-type': 'application/json' }, body };
  } catch (error) {
    if (error !== clientGone) throw error;
    request.outcome.end = 'client_gone';
    await settleSpending(request, dependencies);
    return { statusCode: 499, headers: {}, body: '' };
  } finally {
    clearTimeout(timer);
  }
}

/** In bytes. No model writes a longer plain answer. */
const answerLimit = 32 * 1024 * 1024;

/** An upstream's answer as the client may see it. */
async function readWhole(
  { body, translated }: AnswerOfUpstream,
  exchange: Exchange,
  now: () => number,
  signal: AbortSignal,
): Promise<string> {
  const { request } = exchange;
  try {
    const text = await readText(body, answerLimit, request.memory.take);
    return await runCooperatively(rewriteWhole(text, exchange, translated, now), signal);
  } catch (cause) {
    if (signal.aborted) throw signal.reason;
    throw cause instanceof GatewayError ? cause : new UpstreamFailure('unusable', { cause });
  }
}

async function fetchStream(exchange: Exchange, dependencies: ForwardDependencies): Promise<GatewayResponse> {
  const { request, record, hiding } = exchange;
  const { now, idleTimeout, keepAliveInterval } = dependencies;
  const relay = createRelay({
    dialect: request.call.dialect,
    explain: hiding.explain,
    ...{ idleTimeout, keepAliveInterval },
    timeLeft: Math.max(0, request.deadline - now()),
    onFirstEvent: () => {
      record.timeToFirstByte = now() - request.startedAt;
    },
    onEnd: (end) => settleStream(exchange, end, dependencies),
  });
  whenAborted(request.clientGone, relay.cancel);
  whenAborted(request.cutShort, relay.fail);
  exchange.ask(relay).then(
    ({ body, translated }) => relay.attach(body, createRewriter(exchange, translated, now)),
    (error) => relay.fail(toCallersError(error, request.call)),
  );
  await relay.begun;
  return { statusCode: 200, headers: { 'content-type': 'text/event-stream; charset=utf-8' }, body: relay.body };
}

/** Settles the charge and logs, however the stream ended. Returns the error for the client, if there is one. */
async function settleStream(
  { request, record }: Exchange,
  end: StreamEnd,
  dependencies: ForwardDependencies,
): Promise<GatewayError | undefined> {
  const { outcome } = request;
  if (end.kind !== 'complete') outcome.end = end.kind;
  if (end.kind !== 'failed' || !end.failure.refund) await settleSpending(request, dependencies);
  if (end.kind === 'failed') {
    noteFailure(record, end.failure);
    outcome.error = await settleCharge(request, end.failure, dependencies.refundRefusals);
  }
  dependencies.log.finished(request, 200);
  return outcome.error;
}

/** Also acts if the signal has already aborted. */
function whenAborted(signal: AbortSignal | undefined, act: (reason: unknown) => void): void {
  if (signal?.aborted) act(signal.reason);
  else signal?.addEventListener('abort', () => act(signal.reason), { once: true });
}
