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
import type { AnswerReader } from '../translate/answer/answer-reader.ts';
import { UpstreamFault } from '../translate/answer/answer-sink.ts';
import type { AnswerWriter } from '../translate/answer/answer-writer.ts';
import { removePlaces } from '../translate/answer/remove-places.ts';
import { translateCount, translateStream } from '../translate/answer/translate-stream.ts';
import { UpstreamFailure } from '../upstream/failure.ts';
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
  const { format, reader, observedHiding } = openTranslation(translated, exchange, now);
  const clean = yield* rewriteAnswer(text, format, observedHiding, scanner, record.usage);
  const json = yield* scanner.scanInParts(clean);
  try {
    return (yield* reader.readAnswer(json)).join('');
  } catch (cause) {
    throw new UpstreamFailure('unusable', { cause, charged: mayBeProvoked(cause) });
  }
}

/** A caller could have whole answers for nothing, by arguments that it asks the model to spoil at their end. */
const mayBeProvoked = (cause: unknown): boolean => !(cause instanceof UpstreamFault);

/** Reads a stream of the upstream's dialect and writes the client's. */
export function createTranslator(exchange: Exchange, translated: Translated, now: () => number): StreamRewriter {
  const { record } = exchange;
  const { format, reader, writer, observedHiding } = openTranslation(translated, exchange, now);
  return createTranslatingRewriter(
    (taker) => createStreamRewriter(format, observedHiding, record.usage, taker),
    reader,
    writer,
  );
}

/** What reads an answer that is translated, hides in it, and writes it for the client. */
function openTranslation({ dialect, translation }: Translated, exchange: Exchange, now: () => number) {
  const { request, record, hiding } = exchange;
  const { call } = request;
  const { stops } = call.expected;
  const { thoughts, createReader } = translation.upstreamAnswer.open(stops);
  const writer = translation.createWriter({
    live: call.stream,
    model: call.model.id,
    usage: record.usage,
    now,
    takeThought: thoughts.take,
    newHex: () => randomUUID().replaceAll('-', ''),
  });
  const observedHiding: Hiding = {
    ...hiding,
    onRead: thoughts.onRead,
    explain: (message) => hiding.explain(removePlaces(message)),
    onText(text, channel) {
      hiding.onText?.(text, channel);
      thoughts.onText(text, channel);
    },
  };
  const format = { dialect, expected: { choices: 1, stops, joinsTexts: translation.joinsTexts } };
  return { format, observedHiding, writer, reader: createReader(writer) };
}

/** Translates what a rewriter of the upstream's dialect lets out, event by event, for a client of the writer's. */
export function createTranslatingRewriter(
  createUpstreamRewriter: (taker: EventTaker) => StreamRewriter,
  reader: AnswerReader,
  writer: AnswerWriter,
): StreamRewriter {
  const { events } = writer;
  const takeEvents = translateStream(reader, writer);
  let failure: StreamFailure | undefined;

  /** What was written before a fault still goes out. */
  function attempt<T>(step: () => T, otherwise: T): T {
    try {
      return failure ? otherwise : step();
    } catch (cause) {
      failure = { kind: 'broken', cause, charged: mayBeProvoked(cause) };
      return otherwise;
    }
  }

  const rewriter = createUpstreamRewriter({
    takeEvents: (written) => attempt(() => takeEvents(written), undefined),
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
      if (failure || rewriter.failure?.kind !== 'reported') return failure ?? rewriter.failure;
      return { ...rewriter.failure, message: removePlaces(rewriter.failure.message) };
    },
    nextSequence: () => events.nextSequence,
  };
}
