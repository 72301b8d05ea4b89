import type { OutgoingEvent, StreamDialect } from '../dialects/dialect.ts';
import { applyEdits, replaceValue } from '../json/edit.ts';
import type { Json, Node } from '../json/scan.ts';
import { type Frame, frameOf, textInFrame } from './frames.ts';
import { type Hiding, hideFrame, hideText } from './hide.ts';
import { hideTokens } from './hide-tokens.ts';
import type { MarkSheet } from './marks.ts';
import { encodeEvent, openEvent, type SseEvent } from './sse.ts';
import { createTexts } from './texts.ts';

/** Writes the events of one stream as a client may see them, in wire form. */
export interface EventRewriter {
  /** The event at `start`, where it differs from the one before in its text alone: as it leaves, and where it ends. */
  repeat(text: string, start: number): { readonly written: string; readonly end: number } | undefined;
  /** An event, after those that carry the texts which it makes others let go. */
  rewrite(event: SseEvent, json: Json, sheet: MarkSheet): string;
  /** Leaves out an event that has a number. */
  skip(): void;
  /** What all texts still hold back. */
  closeAll(): string;
  /** The number that the next event carries, where events are counted. */
  readonly nextSequence: number;
}

export function createEventRewriter(stream: StreamDialect, hiding: Hiding): EventRewriter {
  const { scrubber } = hiding;
  const texts = createTexts(scrubber);
  /** By channel that holds text back: its last event as it went out, the model of one that will carry that text. */
  const lasts = new Map<string, OutgoingEvent>();
  let frame: Frame | undefined; // of the event before
  let lastSequence = -1;
  let shift = 0; // between the upstream's numbers of events and ours

  /** What channels hold back that end with an event or lose the word to another. */
  function release(json: Json, { turns, closes, deltas }: MarkSheet): string {
    let out = '';
    for (const prefix of turns) {
      for (const channel of lasts.keys()) {
        const speaks = deltas.some((mark) => mark.channel === channel && !isEmpty(json, mark.value));
        if (channel.startsWith(prefix) && !speaks) out += close(channel);
      }
    }
    for (const prefix of closes) {
      for (const channel of texts.channels()) {
        // One that this very event adds to can end in it.
        const speaks = deltas.some((mark) => mark.channel === channel);
        if (channel.startsWith(prefix) && !speaks) out += close(channel);
      }
    }
    return out;
  }

  /** Ends a channel; what it held back leaves in an event of our own. */
  function close(channel: string): string {
    const text = texts.close(channel);
    const last = lasts.get(channel);
    lasts.delete(channel);
    if (text === '' || !last) return '';
    shift += 1;
    lastSequence += 1;
    return encodeEvent(stream.textEvent(last, channel, text, lastSequence));
  }

  function hide(event: SseEvent, json: Json, sheet: MarkSheet): OutgoingEvent {
    const type = event.type && scrubber.scrub(event.type);
    const edits = hideFrame(json, sheet, hiding);
    frame = frameOf(json, sheet, event, { type, edits });
    for (const mark of sheet.deltas) {
      const given = json.string(mark.value);
      let text = texts.push(mark.channel, mark.family, given);
      if (sheet.closes.some((prefix) => mark.channel.startsWith(prefix))) text += texts.close(mark.channel);
      hideText(json, mark, given, text, edits);
    }
    for (const mark of sheet.wholes) {
      const given = json.string(mark.value);
      hideText(json, mark, given, texts.whole(mark.channel, mark.family, given), edits);
    }
    for (const mark of sheet.tokens) hideTokens(json, mark, texts, scrubber, edits);
    if (sheet.sequence !== undefined) {
      lastSequence = Number(json.raw(sheet.sequence)) + shift;
      if (shift !== 0) edits.push(replaceValue(json, sheet.sequence, String(lastSequence)));
    }
    return { type, data: applyEdits(json.text, edits) };
  }

  function keepLast(channel: string, event: OutgoingEvent): void {
    if (texts.isHolding(channel)) lasts.set(channel, event);
    else lasts.delete(channel);
  }

  return {
    repeat(source, start) {
      const literal = frame && textInFrame(frame, source, start);
      if (!frame || literal === undefined) return undefined;
      const { channel, family, head, tail, type, outHead, outTail } = frame;
      const given: string = literal.includes('\\') ? JSON.parse(literal) : literal.slice(1, -1);
      const text = texts.push(channel, family, given);
      const data = outHead + (text === given ? literal : JSON.stringify(text)) + outTail;
      keepLast(channel, { type, data });
      return { written: `${openEvent(type)}${data}\n\n`, end: start + head.length + literal.length + tail.length };
    },
    rewrite(event, json, sheet) {
      const released = release(json, sheet);
      const written = hide(event, json, sheet);
      for (const { channel } of sheet.deltas) keepLast(channel, written);
      return released + encodeEvent({ ...written, id: event.id && scrubber.scrub(event.id) });
    },
    skip() {
      frame = undefined;
      shift -= 1;
    },
    closeAll() {
      let out = '';
      for (const channel of texts.channels()) out += close(channel);
      return out;
    },
    get nextSequence() {
      return lastSequence + 1;
    },
  };
}

function isEmpty(json: Json, string: Node): boolean {
  return json.end(string) - json.start(string) === 2;
}
