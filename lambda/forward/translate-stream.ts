import type { StreamFailure, StreamRewriter } from '../stream/rewrite-stream.ts';
import { type StreamTranslator, translateChatStream } from '../translate/answer/translate-answer.ts';
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
export function translateRewriter(
  createRewriter: (translate: (events: string) => string) => StreamRewriter,
  writer: AnswerWriter,
  stops: ReadonlySet<string>,
): StreamRewriter {
  const translator: StreamTranslator = translateChatStream(writer, stops);
  let failure: StreamFailure | undefined;

  /** What was written before a fault still goes out. */
  function translate(step: () => void): string {
    try {
      if (!failure) step();
    } catch (cause) {
      // Or a caller could have whole answers for nothing, by arguments that it asks the model to spoil at their end.
      failure = { kind: 'broken', cause, charged: true };
    }
    return translator.take();
  }

  const rewriter = createRewriter((events) => translate(() => translator.push(events)));
  return {
    push: rewriter.push,
    finish: () => rewriter.finish() + (rewriter.ended ? translate(translator.end) : ''),
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
