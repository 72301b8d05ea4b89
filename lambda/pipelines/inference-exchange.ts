import { GatewayError } from '../http/errors.ts';
import type {
  ExchangeRecord,
  GatewayRequest,
  GatewayResponse,
  InferenceCall,
  Outgoing,
} from '../http/gateway-request.ts';
import { createScanner } from '../json/scan.ts';
import { inTurns } from '../json/turns.ts';
import { settleCharge } from '../middleware/charge-quota.ts';
import { describeCause, type Log } from '../report/log.ts';
import type { Hiding } from '../stream/hide.ts';
import { createRelay, type StreamEnd } from '../stream/relay.ts';
import { rewriteAnswer } from '../stream/rewrite-answer.ts';
import { createStreamRewriter } from '../stream/rewrite-stream.ts';
import type { Scrubber } from '../stream/scrub.ts';
import { UpstreamFailure } from '../upstream/failure.ts';
import type { Attempt, OpenUpstream } from '../upstream/open-upstream.ts';
import { readBody } from '../upstream/read-body.ts';
import { buildUpstreamRequest } from '../upstream/request.ts';
import { createExplainer, type Explainer } from './explainer.ts';

export interface ExchangeDependencies {
  readonly openUpstream: OpenUpstream;
  readonly readScrubber: () => Promise<Scrubber>;
  readonly log: Log;
  readonly now: () => number;
  readonly idleTimeout: number;
  readonly keepAliveInterval: number;
  readonly refundRefusals: boolean;
}

/** In bytes. No model writes a longer plain answer. */
const answerLimit = 32 * 1024 * 1024;

/** The client that waits for an upstream, as seen by the attempt. */
interface Watcher {
  readonly signal: AbortSignal;
  /** Called when a try has failed, which is a sign of life too. */
  readonly alive?: () => void;
}

type Exchange = (request: GatewayRequest) => Promise<GatewayResponse>;

/** Sends the call to an upstream and brings its answer back, as a whole or as a stream. */
export function createInferenceExchange(dependencies: ExchangeDependencies): Exchange {
  const { openUpstream, readScrubber, log, now } = dependencies;
  const timeLeft = ({ deadline }: GatewayRequest): number => Math.max(0, deadline - now());
  const hidingFor = (call: InferenceCall, scrubber: Scrubber, { sentence: explain }: Explainer): Hiding => ({
    ...{ scrubber, publicModel: call.model.id, explain },
  });

  const prepare = (
    request: GatewayRequest,
    call: InferenceCall,
    record: ExchangeRecord,
    explainer: Explainer,
    { signal, alive }: Watcher,
  ): Attempt => {
    let held: Outgoing | undefined = takeOutgoing(request);
    const outgoing = (): Outgoing => {
      if (held === undefined) throw new TypeError('the body has been let go of');
      return held;
    };
    return {
      build: (candidate) => {
        const built = buildUpstreamRequest(candidate, { ...call, ...outgoing() }, request.headers);
        record.tries += 1;
        record.upstream = candidate.upstream.prefix;
        for (const secret of candidate.secrets) explainer.conceal(secret);
        return built;
      },
      explain: explainer.sentenceIn,
      signal,
      // Its words are parts of the body.
      get conversation() {
        return outgoing().conversation;
      },
      isAccountBound: () => outgoing().isAccountBound(),
      forgetBody: () => {
        held = undefined;
        request.room.leave();
      },
      onFailure: ({ kind, upstreamStatus, cause, failureClass }, { upstream }, another) => {
        alive?.();
        record.upstreamStatus = upstreamStatus;
        // The request's own line reports and counts the last one.
        if (!failureClass.refunds || !another) return;
        const fields = { requestId: request.id, upstream: upstream.prefix, kind, upstreamStatus, another };
        log.triedInVain(kind, { ...fields, ...describeCause(cause) });
      },
    };
  };

  /**
   * Frees the body when an answer begins or none will come, if not earlier. Until then only the attempt may hold it. (A closure
   * keeps alive all that its neighbours in the same function use, so the closures of a stream are made elsewhere.)
   */
  const open = (...parts: Parameters<typeof prepare>) =>
    openUpstream(prepare(...parts)).finally(() => parts[0].room.leave());

  const answerWhole = async (
    request: GatewayRequest,
    call: InferenceCall,
    record: ExchangeRecord,
    scrubber: Scrubber,
  ): Promise<GatewayResponse> => {
    const explainer = createExplainer(scrubber);
    const stop = new AbortController();
    const timer = setTimeout(() => stop.abort(new UpstreamFailure('timeout')), timeLeft(request));
    whenAborted(request.clientGone, () => stop.abort(clientGone));
    whenAborted(request.cutShort, (reason) => stop.abort(reason));
    try {
      const answer = await open(request, call, record, explainer, stop);
      const rewritten = await readUsable(async () => {
        const text = await readBody(answer.body, answerLimit, request.room.take);
        const work = rewriteAnswer(text, call, hidingFor(call, scrubber, explainer), createScanner(), record.usage);
        return inTurns(work, stop.signal);
      }, stop.signal);
      if ('failure' in rewritten) {
        throw new UpstreamFailure('reported', { message: explainer.sentence(rewritten.failure) });
      }
      return { statusCode: 200, headers: { 'content-type': 'application/json' }, body: rewritten.text };
    } catch (error) {
      if (error !== clientGone) throw error;
      request.end = 'client_gone';
      return { statusCode: 499, headers: {}, body: '' };
    } finally {
      clearTimeout(timer);
    }
  };

  const answerStream = async (
    request: GatewayRequest,
    call: InferenceCall,
    record: ExchangeRecord,
    scrubber: Scrubber,
  ): Promise<GatewayResponse> => {
    const explainer = createExplainer(scrubber);
    const relay = createRelay({
      dialect: call.dialect,
      rewriter: createStreamRewriter(call, hidingFor(call, scrubber, explainer), record.usage),
      explain: explainer.sentence,
      idleTimeout: dependencies.idleTimeout,
      keepAliveInterval: dependencies.keepAliveInterval,
      timeLeft: timeLeft(request),
      onFirstEvent: () => {
        record.timeToFirstByte = now() - request.startedAt;
      },
      onEnd: (end) => settle(request, end, record),
    });
    whenAborted(request.clientGone, relay.cancel);
    whenAborted(request.cutShort, relay.fail);
    open(request, call, record, explainer, relay).then(
      ({ body }) => relay.attach(body),
      (error) => relay.fail(translate(error, call)),
    );
    await relay.begun;
    return { statusCode: 200, headers: { 'content-type': 'text/event-stream; charset=utf-8' }, body: relay.body };
  };

  /** Settles the charge and logs, however the stream ended. Returns the error for the client, if there is one. */
  const settle = async (request: GatewayRequest, end: StreamEnd, record: ExchangeRecord) => {
    if (end.kind !== 'complete') request.end = end.kind;
    if (end.kind === 'failed') {
      noteFailure(record, end.failure);
      request.error = await settleCharge(request, end.failure, dependencies.refundRefusals);
    }
    log.finished(request, 200);
    return request.error;
  };

  return async (request) => {
    const { call } = request;
    if (call === undefined) throw new TypeError('only a normalized request goes upstream');
    const record: ExchangeRecord = { tries: 0, usage: {} };
    request.exchange = record;
    try {
      const scrubber = await readScrubber();
      return await (call.stream ? answerStream : answerWhole)(request, call, record, scrubber);
    } catch (error) {
      const translated = translate(error, call);
      noteFailure(record, translated);
      throw translated;
    }
  };
}

/** A caller's mistake does not count as a failure of the upstream. */
function noteFailure(record: ExchangeRecord, error: unknown): void {
  const translated = error instanceof GatewayError && error.reason !== undefined ? error.cause : undefined;
  for (const failure of [error, translated]) {
    if (failure instanceof UpstreamFailure && failure.status >= 500) record.failure = failure.kind;
  }
}

/** Aborts an upstream whose answer nobody waits for any more. */
const clientGone = new Error('the client has gone');

/** Also acts if the signal has already aborted. */
function whenAborted(signal: AbortSignal | undefined, act: (reason: unknown) => void): void {
  if (signal?.aborted) act(signal.reason);
  else signal?.addEventListener('abort', () => act(signal.reason), { once: true });
}

/** Removes the body from the request, so that the taker holds the only reference. */
function takeOutgoing(request: GatewayRequest): Outgoing {
  const { outgoing } = request;
  request.outgoing = undefined;
  if (outgoing === undefined) throw new TypeError('only a normalized request goes upstream');
  return outgoing;
}

/** On some endpoints two failures mean something else to the caller. */
function translate(error: unknown, call: InferenceCall): unknown {
  if (!(error instanceof UpstreamFailure)) return error;
  const { upstreamStatus } = error;
  if (call.endpoint.optional && (upstreamStatus === 404 || upstreamStatus === 405 || upstreamStatus === 501)) {
    return new GatewayError('not_found', 'Counting tokens is not offered here.', { cause: error });
  }
  if (upstreamStatus === 404 && call.hasReferences) {
    const message =
      'The request refers to an item or a file that does not exist. Send the full content instead of ids.';
    // The log still shows the upstream's 404: the model may be what is missing.
    return new GatewayError('invalid_request', message, { reason: error.kind, cause: error });
  }
  return error;
}

/** Runs a step on the upstream's answer. If it fails, the answer is unusable. */
async function readUsable<T>(step: () => Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await step();
  } catch (cause) {
    if (signal.aborted) throw signal.reason;
    if (cause instanceof GatewayError) throw cause;
    throw new UpstreamFailure('unusable', { cause });
  }
}
