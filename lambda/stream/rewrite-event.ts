import type { MakeDelta, OutgoingEvent, StreamDialect } from '../dialects/dialect.ts';
import { createFindings, type Findings, raise, type Usage } from '../dialects/findings.ts';
import { applyEdits, type Edit, replaceValue } from '../json/edit.ts';
import { createScanner, type Json, type Node } from '../json/scan.ts';
import { createMakeTemplate, type EventTemplate, type Hole, type LikeEvent, readHoles } from './event-template.ts';
import { type Hiding, hideLogprobs, hideMetadata, hideText, passes, tellPrograms } from './hide.ts';
import { encodeEvent, openEvent, type SseEvent } from './sse.ts';
import { createChannelMap, createTextChannels, prefixesOf, type TextChannels } from './text-channels.ts';

export type EventRewriter = ReturnType<typeof createEventRewriter>;

/** Takes a text, as JSON, in place of an event that is like the one before but for it; or leaves the event to be written. */
export type TakeText = (text: string) => boolean;

/** Writes the events of one stream as a client may see them, in wire form. */
export function createEventRewriter(stream: StreamDialect, hiding: Hiding, usage: Usage) {
  const { scrubber } = hiding;
  const texts = createTextChannels(scrubber);
  const numbers = createNumbering();
  const held = createHeldTexts(stream, texts, hiding, numbers.insert);
  const makeTemplate = createMakeTemplate(hiding);
  let template: EventTemplate | undefined; // of the event before

  /** What goes out at a hole of an event. */
  function fill({ place }: Hole, value: string, event: LikeEvent): string {
    if (place.kind === 'text') {
      const given: string = value.includes('\\') ? JSON.parse(value) : value.slice(1, -1);
      hiding.onText?.(given, place.channel);
      if (place.passes) return value;
      const text = texts.push(place.channel, place.family, given);
      held.remember(place.channel, texts.isHolding(place.channel) ? { event: spellOut(event) } : undefined);
      return text === given ? value : JSON.stringify(text);
    }
    if (place.kind === 'sequence') {
      const incoming = Number(value);
      const number = numbers.renumber(incoming);
      return number === incoming ? value : String(number);
    }
    if (place.kind === 'count') raise(usage, place.of, Number(value));
    return value;
  }

  return {
    /** If the event at `start` is like the one before except for its holes: its outgoing form, and where it ends. */
    rewriteByTemplate(
      source: string,
      start: number,
      takeText?: TakeText,
    ): { readonly written: string; readonly end: number } | undefined {
      const read = template && readHoles(template, source, start, scrubber);
      if (!template || !read) return undefined;
      const { out, holes, saysOneText } = template;
      const { values, end } = read;
      let written = out;
      let text: string | undefined;
      for (let at = 0; at < holes.length; at += 1) {
        const [hole, value] = [holes[at], values[at]];
        if (hole === undefined || value === undefined) continue;
        const shown = fill(hole, value, read);
        if (hole.isShown) written += shown + hole.out;
        if (saysOneText && hole.place.kind === 'text') text = shown;
      }
      if (takeText && text !== undefined && takeText(text)) return { written: '', end };
      return { written, end };
    },
    release: held.release,
    rewrite(event: SseEvent, json: Json, found: Findings): string {
      const type = event.type && scrubber.scrub(event.type);
      const edits = hideMetadata(json, found, hiding);
      template = makeTemplate(json, found, event, { type, edits });
      hideTexts(json, found, texts, hiding, edits);
      tellPrograms(json, found, hiding, true);
      hideLogprobs(json, found, texts, hiding, edits);
      if (found.sequence !== undefined) {
        const incoming = Number(json.raw(found.sequence));
        const number = numbers.renumber(incoming);
        if (number !== incoming) edits.push(replaceValue(json, found.sequence, String(number)));
      }
      const last = { event: { type: event.type, data: json.text } };
      for (const { channel } of found.deltas) held.remember(channel, texts.isHolding(channel) ? last : undefined);
      return encodeEvent({ type, data: applyEdits(json.text, edits), id: event.id && scrubber.scrub(event.id) });
    },
    /** Leaves out a numbered event. */
    skip: numbers.skip,
    closeAll: held.releaseAll,
    nextSequence: numbers.next,
  };
}

/** Numbers the events as they go out: one more or less than came in shifts those that follow. */
function createNumbering() {
  let last = -1;
  let shift = 0;
  return {
    next: (): number => last + 1,
    renumber(incoming: number): number {
      last = incoming + shift;
      return last;
    },
    insert(): number {
      shift += 1;
      last += 1;
      return last;
    },
    skip() {
      shift -= 1;
    },
  };
}

function hideTexts(json: Json, found: Findings, texts: TextChannels, hiding: Hiding, edits: Edit[]): void {
  hiding.onRead?.(json, found.deltas);
  const ended = found.ended.length > 0 && new Set(found.ended);
  for (const one of found.deltas) {
    const given = json.string(one.value);
    hiding.onText?.(given, one.channel);
    if (passes(one, hiding)) continue;
    let text = texts.push(one.channel, one.family, given);
    const isLast = ended && prefixesOf(one.channel).some((prefix) => ended.has(prefix));
    if (isLast) text += texts.close(one.channel);
    hideText(json, one, given, text, edits);
  }
  for (const one of found.wholeTexts) {
    if (passes(one, hiding)) continue;
    const given = json.string(one.value);
    hideText(json, one, given, texts.whole(one.channel, one.family, given), edits);
  }
}

/** An event as it came in, and what makes more like it: created when it is needed, once for all its channels. */
interface LastEvent {
  readonly event: OutgoingEvent;
  makeDelta?: MakeDelta;
}

/**
 * Texts that are held back because they may begin a name, and the events in which they leave after all, each with a number from
 * `nextNumber`.
 */
function createHeldTexts(stream: StreamDialect, texts: TextChannels, hiding: Hiding, nextNumber: () => number) {
  /** The last event of each channel that holds text back; undefined for one that did. */
  const lastEvents = createChannelMap<LastEvent | undefined>();
  const deltas = createDeltaWriter(stream, hiding, nextNumber);
  const isHeld = (channel: string): boolean => lastEvents.get(channel) !== undefined;

  /** Ends a channel; what it held back leaves in a generated event. */
  function close(channel: string): string {
    const text = texts.close(channel);
    const last = lastEvents.get(channel);
    lastEvents.delete(channel);
    return text === '' || !last ? '' : deltas.write(last, channel, text);
  }

  return {
    /** Remembers the last event of a channel that holds text back, or that it holds none. */
    remember(channel: string, event: LastEvent | undefined): void {
      if (event || isHeld(channel)) lastEvents.set(channel, event);
    },
    /** What leaves before an event: texts of channels that end with it or give way to another. */
    release(event: Json, found: Findings): string {
      deltas.countRead(event.text.length);
      const known = lastEvents.under(found.flushed);
      const held = known.filter(isHeld);
      if (held.length < known.length) for (const channel of known) if (!isHeld(channel)) lastEvents.delete(channel);
      const ending = texts.under(found.ended);
      if (held.length + ending.length === 0) return '';
      const named = new Set(found.deltas.map(({ channel }) => channel));
      const adding = new Set(found.deltas.filter(({ value }) => !isEmpty(event, value)).map(({ channel }) => channel));
      // A channel that this event adds to can end inside it.
      const over = [
        ...held.filter((channel) => !adding.has(channel)),
        ...ending.filter((channel) => !named.has(channel)),
      ];
      let out = '';
      for (const channel of over) {
        out += close(channel);
        if (deltas.isOverLimit()) throw new RangeError('texts held back would take more memory than the stream');
      }
      return out;
    },
    /** Everything, as far as the limit allows. */
    releaseAll(): string {
      let out = '';
      for (const channel of texts.under([''])) if (!deltas.isOverLimit()) out += close(channel);
      return out;
    },
  };
}

// A generated event repeats what stands around the text of another. Something huge must not be repeated for many channels.
const mostGenerated = 16;
const fewGenerated = 4_096;

/** Writes events of the gateway's own for texts that were held back. */
function createDeltaWriter(stream: StreamDialect, hiding: Hiding, nextNumber: () => number) {
  const scanner = createScanner();
  const found = createFindings({});
  let read = 0; // characters of the upstream's events
  let generated = 0;
  return {
    /** Counts an event of the upstream: generated events may take so many times the memory of those. */
    countRead(characters: number): void {
      read += characters;
    },
    isOverLimit: (): boolean => generated > mostGenerated * read + fewGenerated,
    /** Hides in the event what is hidden in any other, except in its text, where that is done. */
    write(last: LastEvent, channel: string, text: string): string {
      last.makeDelta ??= stream.deltasLike(last.event);
      const { type, data } = last.makeDelta(channel, text, nextNumber());
      const json = scanner.scan(data);
      found.clear();
      stream.readEvent(json, type, found);
      const hidden = applyEdits(data, hideMetadata(json, found, hiding));
      const event = encodeEvent({ type: type && hiding.scrubber.scrub(type), data: hidden });
      generated += event.length;
      return event;
    },
  };
}

function spellOut({ type, source, start, end }: LikeEvent): OutgoingEvent {
  return { type, data: source.slice(start + openEvent(type).length, end - 2) };
}

function isEmpty(json: Json, string: Node): boolean {
  return json.end(string) - json.start(string) === 2;
}
