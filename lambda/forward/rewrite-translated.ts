import { randomUUID } from 'node:crypto';
import type { Cooperative } from '../json/cooperative.ts';
import { createScanner } from '../json/scan.ts';
import { type Hiding, rewriteAnswer } from '../stream/hide.ts';
import {
  createStreamRewriter,
  type EventTaker,
  type StreamFailure,
  type StreamRewriter,
} from '../stream/rewrite-stream.ts';
import { UpstreamFault } from '../translate/answer/answer-sink.ts';
import type { AnswerWriter } from '../translate/answer/answer-writer.ts';
import { translateChatStream, translateCount } from '../translate/answer/translate-stream.ts';
import { createChatReader, createRawThoughts } from '../translate/chat/read-answer.ts';
import type { Translated } from '../upstream/request.ts';
import type { Exchange } from './ask-upstream.ts';

/** Rewrites a whole answer of the upstream's dialect, and translates it to the client's. */
export function* translateWhole(
  text: string,
  exchange: Exchange,
  translated: Translated,
  now: () => number,
): Cooperative<string> {
  const { request, record } = exchange;
  const scanner = createScanner();
  const { countsTokens, countObject } = request.call.endpoint;
  if (countsTokens) return translateCount(yield* scanner.scanInParts(text), countObject);
  const { format, writer, stops, observedHiding } = openTranslation(translated, exchange, now);
  const clean = yield* rewriteAnswer(text, format, observedHiding, scanner, record.usage);
  return createChatReader(writer, stops)
    .readAnswer(yield* scanner.scanInParts(clean))
    .join('');
}

/** Reads a stream of the upstream's dialect and writes the client's. */
export function createTranslator(exchange: Exchange, translated: Translated, now: () => number): StreamRewriter {
  const { record } = exchange;
  const { format, writer, stops, doubles, observedHiding } = openTranslation(translated, exchange, now);
  return createTranslatingRewriter(
    (taker) => createStreamRewriter(format, observedHiding, record.usage, taker),
    writer,
    { stops, doubles },
  );
}

/** What reads an answer that is translated, hides in it, and writes it for the client. */
function openTranslation({ dialect, translation }: Translated, exchange: Exchange, now: () => number) {
  const { request, record, hiding } = exchange;
  const { call } = request;
  const { stops } = call.expected;
  const { doubles, onRead, onText, take: takeThought } = createRawThoughts();
  const writer = translation.createWriter({
    ...{ live: call.stream, model: call.model.id, usage: record.usage, now, takeThought },
    newHex: () => randomUUID().replaceAll('-', ''),
  });
  const observedHiding: Hiding = {
    ...{ ...hiding, onRead },
    onText(text, channel) {
      hiding.onText?.(text, channel);
      onText(text, channel);
    },
  };
  return { format: { dialect, expected: { choices: 1, stops } }, observedHiding, writer, stops, doubles };
}

/** Translates what a rewriter of chat lets out, event by event, for a client of the writer's dialect. */
export function createTranslatingRewriter(
  createChatRewriter: (taker: EventTaker) => StreamRewriter,
  writer: AnswerWriter,
  { stops, doubles }: { readonly stops: ReadonlySet<string>; readonly doubles: Set<string> },
): StreamRewriter {
  const { events } = writer;
  const { reader, push } = translateChatStream(writer, stops, doubles);
  let failure: StreamFailure | undefined;

  /** What was written before a fault still goes out. */
  function attempt<T>(step: () => T, otherwise: T): T {
    try {
      return failure ? otherwise : step();
    } catch (cause) {
      // Or a caller could have whole answers for nothing, by arguments that it asks the model to spoil at their end.
      failure = { kind: 'broken', cause, charged: !(cause instanceof UpstreamFault) };
      return otherwise;
    }
  }

  const rewriter = createChatRewriter({
    takeEvents: (written) => attempt(() => push(written), undefined),
    takeText: (text) => attempt(() => reader.repeat(text), true),
  });

  function take() {
    if (rewriter.ended) attempt(reader.end, undefined);
    return events.take();
  }

  return {
    push(chunk) {
      rewriter.push(chunk);
      return take();
    },
    finish() {
      rewriter.finish();
      return take();
    },
    get started() {
      return rewriter.started;
    },
    get ended() {
      return !failure && reader.isOver;
    },
    get mayEnd() {
      return rewriter.mayEnd;
    },
    get failure() {
      return failure ?? rewriter.failure;
    },
    nextSequence: () => events.nextSequence,
  };
}
