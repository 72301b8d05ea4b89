import { scanLeniently } from '../../json/lenient.ts';
import { createScanner, type Json } from '../../json/scan.ts';
import type { Literal } from './facts.ts';
import { createChatReader } from './read-chat.ts';
import type { AnswerWriter } from './writer.ts';

/** Events of an upstream in, events for a client of another dialect out. What comes in has been hidden already. */
export interface StreamTranslator {
  /** Takes the data of an event; returns the events that may leave now. Throws if no answer may look like this. */
  push(data: string): string;
  /**
   * The same for an event that differs from the last only in its one text, as it is spelt. Undefined if the last event was of
   * another kind: then the whole event has to be pushed.
   */
  repeat(text: Literal): string | undefined;
  /** The upstream has come to its own end. A stream that is cut is not ended. */
  end(): string;
  /** Whether the last event is written. What comes after that is ignored. */
  readonly isOver: boolean;
  /** The number of the next event, if the client's dialect numbers them. */
  readonly nextSequence: number;
}

/** From chat. `stops`: the texts at which the caller wants the model to stop. */
export function translateChatStream(writer: AnswerWriter, stops: ReadonlySet<string>): StreamTranslator {
  const scanner = createScanner();
  const reader = createChatReader(writer, stops);
  return {
    push(data) {
      reader.readChunk(scanLeniently(scanner, data));
      return writer.take();
    },
    repeat: (text) => (reader.repeat(text) ? writer.take() : undefined),
    end() {
      reader.end();
      return writer.take();
    },
    get isOver() {
      return reader.isOver;
    },
    get nextSequence() {
      return writer.nextSequence;
    },
  };
}

/** A plain answer of chat in the writer's dialect. Throws if it is none. */
export function translateChatAnswer(answer: Json, writer: AnswerWriter, stops: ReadonlySet<string>): string {
  createChatReader(writer, stops).readAnswer(answer);
  return writer.answer;
}
