import type { MakeDelta, OutgoingEvent, StreamDialect } from '../dialects/dialect.ts';
import { createFindings, type Findings, type TextPlace } from '../dialects/model/findings.ts';
import { hideMetadata } from '../hiding/hide.ts';
import { createChannelMap, type TextChannels } from '../hiding/text-channels.ts';
import { applyEdits } from '../json/edit.ts';
import { createScanner, type Json, type Node, type Scanner } from '../json/scan.ts';
import type { Rewriting } from './rewrite-answer.ts';
import { encodeEvent } from './sse.ts';
import { reasoning } from './void-reasoning.ts';

/** An event as it came in, and what makes more like it: created when it is needed, once for all its channels. */
interface LastEvent {
  readonly event: OutgoingEvent;
  makeDelta?: MakeDelta;
}

/**
 * Texts that are held back because they may begin a name, and the events in which they leave after all, each with a number from
 * `nextNumber`.
 */
export function createHeldTexts(
  stream: StreamDialect,
  texts: TextChannels,
  hiding: Rewriting,
  nextNumber: () => number,
) {
  /** The last event of each channel that holds text back; undefined for one that did. */
  const lastEvents = createChannelMap<LastEvent | undefined>();
  /** The channels that hold text back, but for those of thoughts. */
  const holding = new Set<string>();
  const deltas = createDeltaWriter(stream, hiding, nextNumber);
  const isHeld = (channel: string): boolean => lastEvents.get(channel) !== undefined;

  /** Ends a channel; what it held back leaves in a generated event. */
  function close(channel: string): string {
    const text = texts.close(channel);
    const last = lastEvents.get(channel);
    lastEvents.delete(channel);
    holding.delete(channel);
    return text === '' || !last ? '' : deltas.write(last, channel, text);
  }

  return {
    /** Remembers the last event of a channel that holds text back, or that it holds none. */
    remember({ channel, family }: TextPlace, event: LastEvent | undefined): void {
      if (!event && !isHeld(channel)) return;
      lastEvents.set(channel, event);
      if (event && family !== reasoning) holding.add(channel);
      else holding.delete(channel);
    },
    /** Whether what was said may still be changed, since a part of it has not left. */
    isHoldingSpeech: (): boolean => holding.size > 0,
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
function createDeltaWriter(stream: StreamDialect, hiding: Rewriting, nextNumber: () => number) {
  // Most streams need no such event, and what is made for each of very many costs all of them.
  let reading: { readonly scanner: Scanner; readonly found: Findings } | undefined;
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
      reading ??= { scanner: createScanner(), found: createFindings({}) };
      const { scanner, found } = reading;
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

function isEmpty(json: Json, string: Node): boolean {
  return json.end(string) - json.start(string) === 2;
}
