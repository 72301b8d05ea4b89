import type { OutgoingEvent, StreamDialect, TellText } from '../dialects/dialect.ts';
import { applyEdits } from '../json/edit.ts';
import { createScanner, type Json, type Node } from '../json/scan.ts';
import { type Hiding, hideFrame } from './hide.ts';
import { createMarkSheet, type MarkSheet } from './marks.ts';
import { encodeEvent } from './sse.ts';
import type { Texts } from './texts.ts';
import { type ChannelMap, createChannelMap } from './texts.ts';

/** An event as it came in, and what makes more like it: created when it is needed, once for all its channels. */
export interface LastEvent {
  readonly event: OutgoingEvent;
  tell?: TellText;
}

/** Texts that are held back because they may begin a name, and the events in which they leave after all. */
export interface HeldTexts {
  /** Remembers the last event of a channel, if that holds text back. */
  keep(channel: string, last: () => LastEvent): void;
  /** What leaves before an event: texts of channels that end with it or give way to another. */
  release(json: Json, sheet: MarkSheet): string;
  /** Everything, as far as the limit allows. */
  releaseAll(): string;
  /** Counts an event of the upstream: generated events may take so many times the room of those. */
  countRead(characters: number): void;
}

// A generated event repeats what stands around the text of another. Something huge must not be repeated for many channels.
const mostTold = 16;
const fewTold = 4_096;

/** `nextNumber` numbers a generated event. */
export function createHeldTexts(
  stream: StreamDialect,
  texts: Texts,
  hiding: Hiding,
  nextNumber: () => number,
): HeldTexts {
  /** The last event of each channel that holds text back; undefined for one that did. */
  const lasts = createChannelMap<LastEvent | undefined>();
  const scanner = createScanner();
  const sheet = createMarkSheet({});
  let read = 0; // characters of the upstream's events
  let told = 0; // characters of generated events

  const isWaiting = (channel: string): boolean => lasts.get(channel) !== undefined;
  const isTooMuch = (): boolean => told > mostTold * read + fewTold;

  function forgetDone(channels: readonly string[]): void {
    for (const channel of channels) if (!isWaiting(channel)) lasts.delete(channel);
  }

  /** Ends a channel; what it held back leaves in a generated event. */
  function close(channel: string): string {
    const text = texts.close(channel);
    const last = lasts.get(channel);
    lasts.delete(channel);
    if (text === '' || !last) return '';
    last.tell ??= stream.tellAfter(last.event);
    const event = encodeEvent(hide(last.tell(channel, text, nextNumber())));
    told += event.length;
    return event;
  }

  /** Hides in a generated event what is hidden in any other. Its text is a delta, and hidden already. */
  function hide({ type, data }: OutgoingEvent): OutgoingEvent {
    const json = scanner.scan(data);
    sheet.clear();
    stream.readEvent(json, type, sheet.marks);
    return { type: type && hiding.scrubber.scrub(type), data: applyEdits(data, hideFrame(json, sheet, hiding)) };
  }

  return {
    keep(channel, last) {
      if (texts.isHolding(channel)) lasts.set(channel, last());
      else if (isWaiting(channel)) lasts.set(channel, undefined);
    },
    release(event, { turns, closes, deltas }) {
      let out = '';
      const known = under(lasts, turns);
      const losing = known.filter(isWaiting);
      if (losing.length < known.length) forgetDone(known);
      const ending = under(texts, closes);
      if (losing.length + ending.length === 0) return out;
      const named = new Set(deltas.map(({ channel }) => channel));
      const speaking = new Set(deltas.filter(({ value }) => !isEmpty(event, value)).map(({ channel }) => channel));
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
    },
    releaseAll() {
      let out = '';
      for (const channel of texts.under('')) if (!isTooMuch()) out += close(channel);
      return out;
    },
    countRead(characters) {
      read += characters;
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
