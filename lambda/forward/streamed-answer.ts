import type { Log } from '../report/log.ts';
import type { ExchangeRecord } from '../request/request.ts';
import type { Hiding } from '../stream/hide.ts';
import { createRelay, type StreamEnd } from '../stream/relay.ts';
import { createStreamRewriter, type StreamRewriter } from '../stream/rewrite-stream.ts';
import type { Translated } from '../upstream/failover.ts';
import {
  type AskForRequest,
  type BringAnswer,
  countText,
  noteFailure,
  openTranslation,
  type ReadyToForward,
  toCallersError,
  whenAborted,
} from './ask-upstream.ts';
import { createExplainer } from './explain.ts';
import { createSettleSpending, type SpendingDependencies, settleCharge } from './settle.ts';
import { createLateRewriter, createTranslatingRewriter } from './translate-stream.ts';

export interface StreamDependencies extends SpendingDependencies {
  readonly log: Log;
  readonly now: () => number;
  readonly idleTimeout: number;
  readonly keepAliveInterval: number;
  readonly refundRefusals: boolean;
}

/** Brings an answer that comes as a stream, event by event. */
export function createStreamedAnswer(dependencies: StreamDependencies, ask: AskForRequest): BringAnswer {
  const { log, now, idleTimeout, keepAliveInterval, refundRefusals } = dependencies;

  const settleSpending = createSettleSpending(dependencies);

  /** Settles the charge and logs, however the stream ended. Returns the error for the client, if there is one. */
  const settle = async (request: ReadyToForward, end: StreamEnd, record: ExchangeRecord) => {
    const { outcome } = request;
    if (end.kind !== 'complete') outcome.end = end.kind;
    if (end.kind !== 'failed' || !end.failure.refund) await settleSpending(request);
    if (end.kind === 'failed') {
      noteFailure(record, end.failure);
      outcome.error = await settleCharge(request, end.failure, refundRefusals);
    }
    log.finished(request, 200);
    return outcome.error;
  };

  /** Reads the upstream's dialect and writes the client's. */
  const createRewriter = (
    request: ReadyToForward,
    record: ExchangeRecord,
    hiding: Hiding,
    translated: Translated | undefined,
  ): StreamRewriter => {
    const { usage } = record;
    if (translated === undefined) return createStreamRewriter(request.call, hiding, usage);
    const { format, writer, stops, ...opened } = openTranslation(translated, request, record, hiding, now);
    return createTranslatingRewriter(
      (taker) => createStreamRewriter(format, opened.hiding, usage, taker),
      writer,
      stops,
    );
  };

  return async (request, record, scrubber) => {
    const { call } = request;
    const explainer = createExplainer(scrubber);
    const hiding = { scrubber, publicModel: call.model.id, explain: explainer.sentence, onText: countText(record) };
    const rewriter = createLateRewriter();
    const relay = createRelay({
      dialect: call.dialect,
      rewriter,
      explain: explainer.sentence,
      ...{ idleTimeout, keepAliveInterval },
      timeLeft: Math.max(0, request.deadline - now()),
      onFirstEvent: () => {
        record.timeToFirstByte = now() - request.startedAt;
      },
      onEnd: (end) => settle(request, end, record),
    });
    whenAborted(request.clientGone, relay.cancel);
    whenAborted(request.cutShort, relay.fail);
    ask(request, record, explainer, relay).then(
      ({ body, translated }) => {
        rewriter.choose(createRewriter(request, record, hiding, translated));
        relay.attach(body);
      },
      (error) => relay.fail(toCallersError(error, call)),
    );
    await relay.begun;
    return { statusCode: 200, headers: { 'content-type': 'text/event-stream; charset=utf-8' }, body: relay.body };
  };
}
