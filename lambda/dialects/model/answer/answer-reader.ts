import type { Piece } from '../../../json/pieces.ts';
import type { Json, Node } from '../../../json/scan.ts';
import type { AnswerChanges } from '../answer-changes.ts';
import type { AnswerSink, Literal } from './answer-sink.ts';

/** Reads an upstream's answer, in which names are already hidden, into a sink. */
export interface AnswerReader {
  /** Throws if the event is not valid. */
  readEvent(json: Json): void;
  /** Reads a plain answer, and returns it as the sink wrote it. Throws if it is not valid. */
  readAnswer(json: Json): readonly Piece[];
  /** Reads an event that differs from the last one only in its text. False if that event held more than a text. */
  repeat(text: Literal): boolean;
  /** Called when the upstream ends the stream. Throws if the answer may be cut off. */
  end(): void;
  /** Whether the answer is complete. */
  readonly isOver: boolean;
}

/**
 * Collects reasoning as the upstream sent it. In what the client reads, names are hidden. What it sends back in a seal must be the
 * upstream's own text, or the model would not recognize it.
 */
export interface RawReasoning {
  /** Called for each answer or event, with the texts in it. */
  onRead(json: Json, texts: readonly { readonly channel: string; readonly value: Node }[]): void;
  /** Called for each text, before names are hidden in it. */
  onText(text: string, channel: string): void;
  /** The reasoning since the last call. */
  take(): Literal;
}

/** Reads the answers of a dialect. */
export interface AnswerDialect {
  /**
   * `stops`: the caller's stop sequences. `changes`: records where the client sees something else than the upstream sent, if the
   * upstream signs its reasoning over that.
   */
  open(
    stops: ReadonlySet<string>,
    changes?: AnswerChanges,
  ): {
    readonly reasoning: RawReasoning;
    readonly createReader: (sink: AnswerSink) => AnswerReader;
  };
}
