import { GatewayError } from '../errors.ts';
import { type Cooperative, runCooperatively } from '../json/cooperative.ts';
import { createScanner } from '../json/scan.ts';
import type { ExchangeRecord } from '../request/request.ts';
import type { Hiding } from '../stream/hide.ts';
import { type RewrittenAnswer, rewriteAnswer } from '../stream/rewrite-answer.ts';
import { translateChatAnswer, translateCount } from '../translate/answer/translate-answer.ts';
import type { Translated } from '../upstream/failover.ts';
import { UpstreamFailure } from '../upstream/failure.ts';
import { readBody } from '../upstream/http-client.ts';
import {
  type AskForRequest,
  type BringAnswer,
  countText,
  openTranslation,
  type ReadyToForward,
  whenAborted,
} from './ask-upstream.ts';
import { createExplainer } from './explain.ts';
import { createSettleSpending, type SpendingDependencies } from './settle.ts';

/** In bytes. No model writes a longer plain answer. */
const answerLimit = 32 * 1024 * 1024;

/** Aborts an upstream whose answer nobody waits for any more. */
const clientGone = new Error('the client has gone');

interface WholeDependencies extends SpendingDependencies {
  readonly now: () => number;
}

/** Brings an answer that comes as a whole. */
export function createWholeAnswer(dependencies: WholeDependencies, ask: AskForRequest): BringAnswer {
  const { now } = dependencies;
  const settleSpending = createSettleSpending(dependencies);
  return async (request, record, scrubber) => {
    const { call, memory } = request;
    const explainer = createExplainer(scrubber);
    const stop = new AbortController();
    const timeLeft = Math.max(0, request.deadline - now());
    const timer = setTimeout(() => stop.abort(new UpstreamFailure('timeout')), timeLeft);
    whenAborted(request.clientGone, () => stop.abort(clientGone));
    whenAborted(request.cutShort, (reason) => stop.abort(reason));
    try {
      const answer = await ask(request, record, explainer, stop);
      const rewritten = await readUsable(async () => {
        const text = await readBody(answer.body, answerLimit, memory.take);
        const shown = { scrubber, publicModel: call.model.id, explain: explainer.sentence };
        const hiding = { ...shown, onText: countText(record) };
        const bringing = bringWhole(text, request, record, { hiding, translated: answer.translated, now });
        return runCooperatively(bringing, stop.signal);
      }, stop.signal);
      if ('failure' in rewritten) {
        throw new UpstreamFailure('reported', { message: explainer.sentence(rewritten.failure) });
      }
      await settleSpending(request);
      return { statusCode: 200, headers: { 'content-type': 'application/json' }, body: rewritten.text };
    } catch (error) {
      if (error !== clientGone) throw error;
      request.outcome.end = 'client_gone';
      await settleSpending(request);
      return { statusCode: 499, headers: {}, body: '' };
    } finally {
      clearTimeout(timer);
    }
  };
}

interface Bringing {
  readonly hiding: Hiding;
  readonly translated: Translated | undefined;
  readonly now: () => number;
}

/** Rewrites an answer, and translates it if the upstream does not speak the client's dialect. */
function* bringWhole(
  text: string,
  request: ReadyToForward,
  record: ExchangeRecord,
  { hiding, translated, now }: Bringing,
): Cooperative<RewrittenAnswer> {
  const scanner = createScanner();
  if (translated === undefined) return yield* rewriteAnswer(text, request.call, hiding, scanner, record.usage);
  if (request.call.endpoint.optional) return { text: translateCount(yield* scanner.scanInParts(text)) };
  const { format, writer, stops, ...opened } = openTranslation(translated, request, record, hiding, now);
  const clean = yield* rewriteAnswer(text, format, opened.hiding, scanner, record.usage);
  if ('failure' in clean) return clean;
  const json = yield* scanner.scanInParts(clean.text);
  return { text: translateChatAnswer(json, writer, stops) };
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
