import type { MakeDelta, OutgoingEvent, StreamDialect } from '../dialects/dialect.ts';
import { createFindings, type Findings, type TextPlace } from '../dialects/model/findings.ts';
import { hideMetadata } from '../hiding/hide.ts';
import { createChannelMap, type TextChannels } from '../hiding/text-channels.ts';
import { applyEdits } from '../json/edit.ts';
import { createScanner, type Json, type Node, type Scanner } from '../json/scan.ts';
import type { Rewriting } from './rewrite-answer.ts';
import { encodeEvent } from './sse.ts';
import { signedFamily } from './void-reasoning.ts';

/** An event as it came in, and a lazily created generator of similar ones, shared by all its channels. */
interface LastEvent {
  readonly event: OutgoingEvent;
  makeDelta?: MakeDelta;
}

/**
 * Holds back the ends of texts that may be the start of a name, and releases them in generated events, numbered by `nextNumber`.
 */
export function createHeldTexts(
  stream: StreamDialect,
  texts: TextChannels,
  hiding: Rewriting,
  nextNumber: () => number,
) {
  /** The last event of each channel that holds text back; undefined once it holds none. */
  const lastEvents = createChannelMap<LastEvent | undefined>();
  /** The channels that hold text back, except those of reasoning. */
  const holding = new Set<string>();
  const deltas = createDeltaWriter(stream, hiding, nextNumber);
  const isHeld = (channel: string): boolean => lastEvents.get(channel) !== undefined;

  /** Ends a channel, and returns what it held back as a generated event. */
  function close(channel: string): string {
    const text = texts.close(channel);
    const last = lastEvents.get(channel);
    lastEvents.delete(channel);
    holding.delete(channel);
    return text === '' || !last ? '' : deltas.write(last, channel, text);
  }

  return {
    /** Records the last event of a channel that holds text back, or undefined if it holds none. */
    remember({ channel, family }: TextPlace, event: LastEvent | undefined): void {
      if (!event && !isHeld(channel)) return;
      lastEvents.set(channel, event);
      if (event && family !== signedFamily) holding.add(channel);
      else holding.delete(channel);
    },
    /** Whether some visible text is still held back, and so may still be changed. */
    isHoldingSpeech: (): boolean => holding.size > 0,
    /** What must go out before an event: held texts of channels that it ends, or that give way to another. */
    release(event: Json, found: Findings): string {
      deltas.countRead(event.text.length);
      const known = lastEvents.under(found.flushed);
      const held = known.filter(isHeld);
      if (held.length < known.length) for (const channel of known) if (!isHeld(channel)) lastEvents.delete(channel);
      const ending = texts.under(found.ended);
      if (held.length + ending.length === 0) return '';
      const named = new Set(found.deltas.map(({ channel }) => channel));
      const adding = new Set(found.deltas.filter(({ value }) => !isEmpty(event, value)).map(({ channel }) => channel));
      // A channel that this event adds to may end within the event.
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
    /** Releases everything, within the memory limit. */
    releaseAll(): string {
      let out = '';
      for (const channel of texts.under([''])) if (!deltas.isOverLimit()) out += close(channel);
      return out;
    },
  };
}

// A generated event repeats everything around the text of another. Something huge must not be repeated for many channels.
const mostGenerated = 16;
const fewGenerated = 4_096;

/** Generates the events in which held texts go out. */
function createDeltaWriter(stream: StreamDialect, hiding: Rewriting, nextNumber: () => number) {
  // Lazy: most streams never need such an event.
  let reading: { readonly scanner: Scanner; readonly found: Findings } | undefined;
  let read = 0; // characters of the upstream's events
  let generated = 0;
  return {
    /** Counts what the upstream sent: the limit on generated events is a multiple of it. */
    countRead(characters: number): void {
      read += characters;
    },
    isOverLimit: (): boolean => generated > mostGenerated * read + fewGenerated,
    /** Hides names in the event as in any other, except in its text, which is scrubbed already. */
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
