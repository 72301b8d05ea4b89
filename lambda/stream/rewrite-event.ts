import type { OutgoingEvent, StreamDialect, TellText } from '../dialects/dialect.ts';
import { applyEdits, replaceValue } from '../json/edit.ts';
import type { Json, Node } from '../json/scan.ts';
import { type ChannelMap, createChannelMap, prefixesOf } from './channel-map.ts';
import { type Frame, fillingOf, frameOf } from './frames.ts';
import { type Hiding, hideFrame, hideText } from './hide.ts';
import { hideTokens } from './hide-tokens.ts';
import type { MarkSheet } from './marks.ts';
import { encodeEvent, openEvent, type SseEvent } from './sse.ts';
import { createTexts } from './texts.ts';

/** Writes the events of one stream as a client may see them, in wire form. */
export interface EventRewriter {
  /** If the event at `start` differs from the one before only in its text: its outgoing form, and where it ends. */
  repeat(text: string, start: number): { readonly written: string; readonly end: number } | undefined;
  /** Rewrites an event. Texts that it releases go out before it, in events of their own. */
  rewrite(event: SseEvent, json: Json, sheet: MarkSheet): string;
  /** Leaves out a numbered event. */
  skip(): void;
  /** Everything still held back, as far as its limit allows. */
  closeAll(): string;
  /** The number of the next event, if events are numbered. */
  readonly nextSequence: number;
}

// A generated event repeats the frame of another. A huge frame must not be repeated for each of many channels.
const mostTold = 16;
const fewTold = 4_096;

/** An event as it went out, and what makes more like it: created when it is needed, once for all its channels. */
interface LastEvent {
  readonly event: OutgoingEvent;
  tell?: TellText;
}

export function createEventRewriter(stream: StreamDialect, hiding: Hiding): EventRewriter {
  const { scrubber } = hiding;
  const texts = createTexts(scrubber);
  /** The last event of each channel that holds text back; undefined for one that did. */
  const lasts = createChannelMap<LastEvent | undefined>();
  let frame: Frame | undefined; // of the event before
  let lastSequence = -1;
  let read = 0; // characters of the upstream's events
  let told = 0; // characters of generated events
  let shift = 0; // from the upstream's event numbers to the outgoing ones

  /** The held-back text of channels that end with an event or give way to another. */
  function release(json: Json, { turns, closes, deltas }: MarkSheet): string {
    let out = '';
    const known = under(lasts, turns);
    const losing = known.filter(isWaiting);
    if (losing.length < known.length) forgetDone(known);
    const ending = under(texts, closes);
    if (losing.length + ending.length === 0) return out;
    const named = new Set(deltas.map(({ channel }) => channel));
    const speaking = new Set(deltas.filter(({ value }) => !isEmpty(json, value)).map(({ channel }) => channel));
    // A channel that this event adds to can end inside it.
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

  /** Whether a channel holds text back. */
  function isWaiting(channel: string): boolean {
    return lasts.get(channel) !== undefined;
  }

  function forgetDone(channels: readonly string[]): void {
    for (const channel of channels) if (!isWaiting(channel)) lasts.delete(channel);
  }

  function isTooMuch(): boolean {
    return told > mostTold * read + fewTold;
  }

  /** Ends a channel; what it held back leaves in a generated event. */
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
    else if (lasts.get(channel)) lasts.set(channel, undefined);
  }

  return {
    repeat(source, start) {
      const filling = frame && fillingOf(frame, source, start);
      if (!frame || filling === undefined) return undefined;
      const { channel, family, type, head, middle, tail, number } = frame;
      const { literal, end } = filling;
      const given: string = literal.includes('\\') ? JSON.parse(literal) : literal.slice(1, -1);
      const text = texts.push(channel, family, given);
      const outText = text === given ? literal : JSON.stringify(text);
      let data = outText;
      if (filling.number !== undefined) {
        lastSequence = filling.number + shift;
        data = number === 'before the text' ? lastSequence + middle.out + outText : outText + middle.out + lastSequence;
      }
      data = head.out + data + tail.out;
      keepLast(channel, { event: { type, data } });
      return { written: `${openEvent(type)}${data}\n\n`, end };
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
