import { numberMember } from '../../dialects/answer.ts';
import { createScanner, type Json, scanLeniently } from '../../json/scan.ts';
import { createChatReader } from './read-chat.ts';
import type { AnswerWriter } from './writer.ts';

/**
 * Events of chat in, events for a client of another dialect out. What comes in has been hidden already. `stops`: the texts at which
 * the caller wants the model to stop.
 */
export function translateChatStream(writer: AnswerWriter, stops: ReadonlySet<string>) {
  const { events } = writer;
  const scanner = createScanner();
  const reader = createChatReader(writer, stops);

  function takeEvent(event: string): void {
    if (event.startsWith(':')) {
      events.pass(event);
      return;
    }
    const at = event.startsWith('data: ') ? 6 : event.indexOf('\ndata: ') + 7;
    const data = event.slice(at, -2);
    if (data === '[DONE]') {
      reader.end();
      return;
    }
    reader.readChunk(scanLeniently(scanner, data.replaceAll('\ndata: ', '\n')));
  }

  return {
    /** Takes whole events in wire form, each line of which ends in a line feed. Throws if no answer may look like this. */
    push(written: string): void {
      for (let at = 0; at < written.length && !reader.isOver; ) {
        const end = written.indexOf('\n\n', at) + 2;
        takeEvent(written.slice(at, end));
        at = end;
      }
    },
    /** Takes the text of an event that is like the last one but for it, if that is all that such an event says. */
    repeat: reader.repeat,
    /** The upstream has come to its own end. A stream that is cut is not ended. */
    end: reader.end,
    /** The events for the client since this was last called. */
    take: events.take,
    /** Whether the last event is written. What comes after that is ignored. */
    get isOver() {
      return reader.isOver;
    },
    /** The number of the next event, if the client's dialect numbers them. */
    get nextSequence() {
      return events.nextSequence;
    },
  };
}

/** A count of tokens as vLLM tells it, for a client of messages. Throws if it is none. */
export function translateCount(answer: Json): string {
  const count = numberMember(answer, answer.root, 'count');
  if (count === undefined) throw new TypeError('the answer counts no tokens');
  return `{"input_tokens":${count}}`;
}
