import { readText } from '../bodies.ts';
import { runCooperatively } from '../json/cooperative.ts';
import type { GatewayResponse } from '../request/call.ts';
import type { ExchangeRecord } from '../request/request.ts';
import { createRelay } from '../stream/relay.ts';
import type { Scrubber } from '../stream/scrub.ts';
import type { AnswerOfUpstream } from '../upstream/failover.ts';
import { type AskDependencies, type Exchange, openExchange, type ReadyToForward } from './ask-upstream.ts';
import { createRewriter, rewriteWhole } from './rewrite.ts';
import { noteFailure, type SettleDependencies, settle, settleStream, toCallersError } from './settle.ts';
import { hasLeft, readsOn, waitFor, whenAborted, whyUnusable } from './waiting.ts';

export interface ForwardDependencies extends AskDependencies, SettleDependencies {
  /** What hides the upstreams' names, and the keys and secret headers that they are sent now. */
  readonly readScrubber: () => Promise<Scrubber>;
  readonly now: () => number;
  readonly idleTimeout: number;
  readonly keepAliveInterval: number;
}

/** Few deployments make vectors. What passes them on is read once. */
const loadFetchVectors = async () => (await import('./vectors.ts')).fetchVectors;

/** Sends the request to an upstream and brings its answer back, as a whole or as a stream. */
export function createForward(
  dependencies: ForwardDependencies,
): (request: ReadyToForward) => Promise<GatewayResponse> {
  return async (request) => {
    const record: ExchangeRecord = { tries: 0, usage: {} };
    request.outcome.exchange = record;
    try {
      const exchange = openExchange(request, record, await dependencies.readScrubber(), dependencies);
      const { stream, endpoint } = request.call;
      const fetch = endpoint.makesVectors ? await loadFetchVectors() : stream ? fetchStream : fetchWhole;
      return await fetch(exchange, dependencies);
    } catch (error) {
      const callersError = toCallersError(error, request.call);
      noteFailure(record, callersError);
      throw callersError;
    }
  };
}

/** Waits for an answer in one piece. */
async function fetchWhole(exchange: Exchange, dependencies: ForwardDependencies): Promise<GatewayResponse> {
  return waitFor(exchange, dependencies, async ({ signal, end }) => {
    const body = await readWhole(await exchange.ask({ signal }), exchange, dependencies.now, signal);
    end();
    const isWhole = true;
    const settled = settle(
      exchange,
      hasLeft(exchange.request) ? { kind: 'client_gone', isWhole } : { kind: 'complete' },
      dependencies,
    );
    return { body, settled };
  });
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
    return await runCooperatively(await rewriteWhole(text, exchange, translated, now), signal);
  } catch (cause) {
    throw whyUnusable(cause, signal);
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
    readsOn: readsOn(request),
    onFirstEvent: () => {
      record.timeToFirstByte = now() - request.startedAt;
    },
    onEnd: (end) => settleStream(exchange, end, dependencies),
  });
  whenAborted(request.clientGone, relay.leave);
  whenAborted(request.cutShort, relay.fail);
  exchange.ask(relay).then(
    async ({ body, translated }) => relay.attach(body, await createRewriter(exchange, translated, now)),
    (error) => relay.fail(toCallersError(error, request.call)),
  );
  await relay.begun;
  return { statusCode: 200, headers: { 'content-type': 'text/event-stream; charset=utf-8' }, body: relay.body };
}
