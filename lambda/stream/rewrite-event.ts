import type { OutgoingEvent, StreamDialect, TellText } from '../dialects/dialect.ts';
import { applyEdits, replaceValue } from '../json/edit.ts';
import type { Json, Node } from '../json/scan.ts';
import { type ChannelMap, createChannelMap, prefixesOf } from './channel-map.ts';
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
  /** What all texts still hold back, as far as there is room for it. */
  closeAll(): string;
  /** The number that the next event carries, where events are counted. */
  readonly nextSequence: number;
}

// An event of our own repeats the frame of another. One with a huge frame must not make huge ones of all its channels.
const mostTold = 16;
const fewTold = 4_096;

/** An event as it went out, and what tells more texts in its way: made when it is needed, once for all its channels. */
interface LastEvent {
  readonly event: OutgoingEvent;
  tell?: TellText;
}

export function createEventRewriter(stream: StreamDialect, hiding: Hiding): EventRewriter {
  const { scrubber } = hiding;
  const texts = createTexts(scrubber);
  /** By channel that holds text back: its last event. */
  const lasts = createChannelMap<LastEvent>();
  let frame: Frame | undefined; // of the event before
  let lastSequence = -1;
  let read = 0; // characters of events
  let told = 0; // and of those of our own
  let shift = 0; // between the upstream's numbers of events and ours

  /** What channels hold back that end with an event or lose the word to another. */
  function release(json: Json, { turns, closes, deltas }: MarkSheet): string {
    let out = '';
    const losing = under(lasts, turns);
    const ending = under(texts, closes);
    if (losing.length + ending.length === 0) return out;
    const named = new Set(deltas.map(({ channel }) => channel));
    const speaking = new Set(deltas.filter(({ value }) => !isEmpty(json, value)).map(({ channel }) => channel));
    // One that this very event adds to can end in it.
    const over = [
      ...losing.filter((channel) => !speaking.has(channel)),
      ...ending.filter((channel) => !named.has(channel)),
    ];
    for (const channel of over) {
      out += close(channel);
      if (isTooMuch()) throw new RangeError('texts that wait would take more room than the stream');
    }
    return out;
  }

  function isTooMuch(): boolean {
    return told > mostTold * read + fewTold;
  }

  /** Ends a channel; what it held back leaves in an event of our own. */
  function close(channel: string): string {
    const text = texts.close(channel);
    const last = lasts.get(channel);
    lasts.delete(channel);
    if (text === '' || !last) return '';
    shift += 1;
    lastSequence += 1;
    last.tell ??= stream.tellAfter(last.event);
    const event = encodeEvent(last.tell(channel, text, lastSequence));
    told += event.length;
    return event;
  }

  function hide(event: SseEvent, json: Json, sheet: MarkSheet): OutgoingEvent {
    const type = event.type && scrubber.scrub(event.type);
    const edits = hideFrame(json, sheet, hiding);
    frame = frameOf(json, sheet, event, { type, edits });
    const closing = sheet.closes.length > 0 && new Set(sheet.closes);
    for (const mark of sheet.deltas) {
      const given = json.string(mark.value);
      let text = texts.push(mark.channel, mark.family, given);
      const closes = closing && prefixesOf(mark.channel).some((prefix) => closing.has(prefix));
      if (closes) text += texts.close(mark.channel);
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

  function keepLast(channel: string, last: LastEvent): void {
    if (texts.isHolding(channel)) lasts.set(channel, last);
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
      keepLast(channel, { event: { type, data } });
      return { written: `${openEvent(type)}${data}\n\n`, end: start + head.length + literal.length + tail.length };
    },
    rewrite(event, json, sheet) {
      read += json.text.length;
      const released = release(json, sheet);
      const written = hide(event, json, sheet);
      const last = { event: written };
      for (const { channel } of sheet.deltas) keepLast(channel, last);
      return released + encodeEvent({ ...written, id: event.id && scrubber.scrub(event.id) });
    },
    skip() {
      frame = undefined;
      shift -= 1;
    },
    closeAll() {
      let out = '';
      for (const channel of texts.under('')) if (!isTooMuch()) out += close(channel);
      return out;
    },
    get nextSequence() {
      return lastSequence + 1;
    },
  };
}

/** The channels with any of these prefixes. */
function under({ under }: Pick<ChannelMap<unknown>, 'under'>, prefixes: readonly string[]): readonly string[] {
  const [only = '', another] = prefixes;
  if (another !== undefined) return [...new Set(prefixes)].flatMap(under);
  return prefixes.length === 0 ? [] : under(only);
}

function isEmpty(json: Json, string: Node): boolean {
  return json.end(string) - json.start(string) === 2;
}
