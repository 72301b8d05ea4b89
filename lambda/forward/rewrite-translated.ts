import { randomUUID } from 'node:crypto';
import type { AnswerReader } from '../dialects/model/answer/answer-reader.ts';
import { UpstreamFault } from '../dialects/model/answer/answer-sink.ts';
import type { AnswerWriter } from '../dialects/model/answer/answer-writer.ts';
import { removePlaces } from '../dialects/model/answer/remove-places.ts';
import { translateCount, translateStream } from '../dialects/model/answer/translate-stream.ts';
import { createAnswerChanges } from '../dialects/model/answer-changes.ts';
import type { ExpectedAnswer } from '../dialects/model/expected-answer.ts';
import type { Usage } from '../dialects/model/findings.ts';
import { openAnswer } from '../dialects/translation.ts';
import type { Piece } from '../json/pieces.ts';
import { createScanner } from '../json/scan.ts';
import { type Rewriting, rewriteAnswer } from '../stream/rewrite-answer.ts';
import {
  createStreamRewriter,
  type EventTaker,
  type StreamFailure,
  type StreamRewriter,
} from '../stream/rewrite-stream.ts';
import { UpstreamFailure } from '../upstream/failure.ts';
import type { Translated } from '../upstream/upstream-request.ts';
import type { UpstreamAttempt } from './ask-upstream.ts';
import type { RewriteText } from './rewrite.ts';

/** Rewrites a whole answer in the upstream's dialect, and translates it to the client's. */
export const rewriteAndTranslate: RewriteText = (json, format, hiding, usage, by) => {
  const { translation } = by;
  if (!translation) throw new TypeError('this answer is not to be translated');
  if (translation.count) return translateCount(json, translation.count.object);
  const { expected, observedHiding, reader } = openTranslation(translation, format.expected, hiding, usage, {
    live: false,
    now: () => translation.now,
  });
  const clean = createScanner().scan(rewriteAnswer(json, { ...format, expected }, observedHiding, usage));
  try {
    return reader.readAnswer(clean).map(textOf).join('');
  } catch (cause) {
    throw new UpstreamFailure('unusable', { cause, charged: mayBeProvoked(cause) });
  }
};

/** Bytes from a thread arrive as a plain Uint8Array, not a Buffer. */
const textOf = (piece: Piece): string =>
  typeof piece === 'string' ? piece : Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength).toString();

/** A caller could get whole answers for free by asking the model to break the tool arguments at the end. */
const mayBeProvoked = (cause: unknown): boolean => !(cause instanceof UpstreamFault);

/** Reads a stream in the upstream's dialect and writes one in the client's. */
export function createTranslator(attempt: UpstreamAttempt, translated: Translated, now: () => number): StreamRewriter {
  const { request, record, hiding } = attempt;
  const translation = openTranslation(translated, request.parsed.expected, hiding, record.usage, { live: true, now });
  const { expected, reader, writer, observedHiding } = translation;
  return createTranslatingRewriter(
    (taker) => createStreamRewriter({ dialect: translated.dialect, expected }, observedHiding, record.usage, taker),
    reader,
    writer,
  );
}

interface WriterNeeds {
  readonly live: boolean;
  readonly now: () => number;
}

/** Puts together what translates an answer: the reader, what hides names, and the writer. */
function openTranslation(
  { answer, sealing, signsThinking }: Pick<Translated, 'answer' | 'sealing' | 'signsThinking'>,
  { stops }: ExpectedAnswer,
  hiding: Rewriting,
  usage: Usage,
  { live, now }: WriterNeeds,
) {
  const changes = signsThinking ? createAnswerChanges() : undefined;
  const newHex = () => randomUUID().replaceAll('-', '');
  const { reasoning, writer, reader, joinsTexts } = openAnswer(answer, sealing, stops, {
    live,
    changes,
    model: hiding.publicModel,
    usage,
    now,
    newHex,
  });
  const observedHiding: Rewriting = {
    ...hiding,
    voiding: changes && { changes, seal: undefined },
    onRead: reasoning.onRead,
    explain: (message) => hiding.explain(removePlaces(message)),
    onText(text, channel) {
      hiding.onText?.(text, channel);
      reasoning.onText(text, channel);
    },
  };
  const signedReasoning = signsThinking ? ('sealed' as const) : undefined;
  return { expected: { choices: 1, stops, joinsTexts, signedReasoning }, observedHiding, writer, reader };
}

/** Translates the output of a rewriter for the upstream's dialect, event by event. */
export function createTranslatingRewriter(
  createUpstreamRewriter: (taker: EventTaker) => StreamRewriter,
  reader: AnswerReader,
  writer: AnswerWriter,
): StreamRewriter {
  const { events } = writer;
  const takeEvents = translateStream(reader, writer);
  let failure: StreamFailure | undefined;

  /** Runs a step and records its fault; what was written before the fault still goes out. */
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
