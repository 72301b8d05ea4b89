import { numberMember } from '../../dialects/answer.ts';
import { createScanner, type Json, scanLeniently } from '../../json/scan.ts';
import { codeAt, quote, trySkipString } from '../../json/tokens.ts';
import type { Literal } from './facts.ts';
import { createChatReader } from './read-chat.ts';
import type { AnswerWriter } from './writer.ts';

/** An event but for its text, in wire form. */
interface EventTemplate {
  readonly before: string;
  readonly after: string;
}

/**
 * Events of chat in, events for a client of another dialect out. What comes in has been hidden already. `stops`: the texts at which
 * the caller wants the model to stop.
 */
export function translateChatStream(writer: AnswerWriter, stops: ReadonlySet<string>) {
  const scanner = createScanner();
  const reader = createChatReader(writer, stops);
  let out = ''; // up to the last comment
  let template: EventTemplate | undefined;

  /** Most events are like the one before but for their text, and need no other look. Returns where such an event ends. */
  function takeLikeLast(events: string, start: number): number | undefined {
    if (!template || !events.startsWith(template.before, start)) return undefined;
    const at = start + template.before.length;
    const end = codeAt(events, at) === quote ? trySkipString(events, at) >> 2 : -1;
    if (end < 0 || !events.startsWith(template.after, end)) return undefined;
    reader.repeat(events.slice(at, end));
    return end + template.after.length;
  }

  function takeEvent(event: string): void {
    template = undefined;
    if (event.startsWith(':')) {
      out += writer.take() + event;
      return;
    }
    const at = event.startsWith('data: ') ? 6 : event.indexOf('\ndata: ') + 7;
    const data = event.slice(at, -2);
    if (data === '[DONE]') {
      reader.end();
      return;
    }
    reader.readChunk(scanLeniently(scanner, data.replaceAll('\ndata: ', '\n')));
    if (reader.text === undefined || data.includes('\n')) return;
    const { start, end } = reader.text;
    template = { before: event.slice(0, at + start), after: event.slice(at + end) };
  }

  return {
    /** Takes whole events in wire form, each line of which ends in a line feed. Throws if no answer may look like this. */
    push(events: string): void {
      for (let at = 0; at < events.length && !reader.isOver; ) {
        const taken = takeLikeLast(events, at);
        const end = taken ?? events.indexOf('\n\n', at) + 2;
        if (taken === undefined) takeEvent(events.slice(at, end));
        at = end;
      }
    },
    /** Takes the text of an event that is like the last one but for it, if that is all that such an event says. */
    repeat(text: Literal): boolean {
      if (!template || reader.isOver) return false;
      reader.repeat(text);
      return true;
    },
    /** The upstream has come to its own end. A stream that is cut is not ended. */
    end: reader.end,
    /** The events for the client since this was last called. */
    take(): string {
      const written = out + writer.take();
      out = '';
      return written;
    },
    /** Whether the last event is written. What comes after that is ignored. */
    get isOver() {
      return reader.isOver;
    },
    /** The number of the next event, if the client's dialect numbers them. */
    get nextSequence() {
      return writer.nextSequence;
    },
  };
}

/** A count of tokens as vLLM tells it, for a client of messages. Throws if it is none. */
export function translateCount(answer: Json): string {
  const count = numberMember(answer, answer.root, 'count');
  if (count === undefined) throw new TypeError('the answer counts no tokens');
  return `{"input_tokens":${count}}`;
}

/** A plain answer of chat in the writer's dialect. Throws if it is none. */
export function translateChatAnswer(answer: Json, writer: AnswerWriter, stops: ReadonlySet<string>): string {
  createChatReader(writer, stops).readAnswer(answer);
  return writer.answer;
}
