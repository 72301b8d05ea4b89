import type { Piece } from '../../../json/pieces.ts';
import type { Json, Node } from '../../../json/scan.ts';
import type { AnswerChanges } from '../answer-changes.ts';
import type { AnswerSink, Literal } from './answer-sink.ts';

/** Reads an upstream's answer, in which names have been hidden, and tells a sink what it says. */
export interface AnswerReader {
  /** Throws if no answer may look like this. */
  readEvent(json: Json): void;
  /** Reads a plain answer, and returns it as the sink wrote it. Throws if it is none. */
  readAnswer(json: Json): readonly Piece[];
  /** Reads an event that is like the last one but for its text, if that is all that such an event says. */
  repeat(text: Literal): boolean;
  /** The upstream's own end. Throws if that may be a cut. */
  end(): void;
  /** Whether nothing more is to come. */
  readonly isOver: boolean;
}

/**
 * What the model thought, as the upstream sent it. The thoughts that a client reads have been hidden; what it sends back in a seal
 * must be the upstream's own words, or the model would not know them again.
 */
export interface RawReasoning {
  /** Hears of an answer or event, and of the texts in it. */
  onRead(json: Json, texts: readonly { readonly channel: string; readonly value: Node }[]): void;
  /** Hears a text. */
  onText(text: string, channel: string): void;
  /** What has been thought since this was last called. */
  take(): Literal;
}

/** How the answers of a dialect are read. */
export interface AnswerDialect {
  /**
   * `stops`: the texts at which the caller wants the model to stop; `changes`: what of the answer the client sees otherwise, where
   * the upstream signs its thoughts over all before them.
   */
  open(
    stops: ReadonlySet<string>,
    changes?: AnswerChanges,
  ): {
    readonly reasoning: RawReasoning;
    readonly createReader: (sink: AnswerSink) => AnswerReader;
  };
}
