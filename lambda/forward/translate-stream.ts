import type { EventTaker, StreamFailure, StreamRewriter } from '../stream/rewrite-stream.ts';
import { UnfinishedAnswer } from '../translate/answer/facts.ts';
import { translateChatStream } from '../translate/answer/translate-answer.ts';
import type { AnswerWriter } from '../translate/answer/writer.ts';

/** A rewriter that is chosen once it is known which upstream answers, and so in which dialect. */
export interface LateRewriter extends StreamRewriter {
  choose(rewriter: StreamRewriter): void;
}

export function createLateRewriter(): LateRewriter {
  let chosen: StreamRewriter | undefined;
  return {
    choose(rewriter) {
      chosen = rewriter;
    },
    push: (chunk) => chosen?.push(chunk) ?? '',
    finish: () => chosen?.finish() ?? '',
    get started() {
      return chosen?.started ?? false;
    },
    get ended() {
      return chosen?.ended ?? false;
    },
    get failure() {
      return chosen?.failure;
    },
    nextSequence: () => chosen?.nextSequence() ?? 0,
  };
}

/** Translates what a rewriter of chat lets out, event by event, for a client of the writer's dialect. */
export function createTranslatingRewriter(
  createChatRewriter: (taker: EventTaker) => StreamRewriter,
  writer: AnswerWriter,
  stops: ReadonlySet<string>,
): StreamRewriter {
  const translator = translateChatStream(writer, stops);
  let failure: StreamFailure | undefined;

  /** What was written before a fault still goes out. */
  function attempt<T>(step: () => T, otherwise: T): T {
    try {
      return failure ? otherwise : step();
    } catch (cause) {
      // Or a caller could have whole answers for nothing, by arguments that it asks the model to spoil at their end.
      failure = { kind: 'broken', cause, charged: !(cause instanceof UnfinishedAnswer) };
      return otherwise;
    }
  }

  const rewriter = createChatRewriter({
    takeEvents: (events) => attempt(() => translator.push(events), undefined),
    takeText: (text) => attempt(() => translator.repeat(text), true),
  });

  return {
    push(chunk) {
      rewriter.push(chunk);
      return translator.take();
    },
    finish() {
      rewriter.finish();
      if (rewriter.ended) attempt(translator.end, undefined);
      return translator.take();
    },
    get started() {
      return rewriter.started;
    },
    get ended() {
      return !failure && translator.isOver;
    },
    get failure() {
      return failure ?? rewriter.failure;
    },
    nextSequence: () => translator.nextSequence,
  };
}
