import type { OutgoingEvent, StreamDialect } from '../dialects/dialect.ts';
import { type Findings, raise, type Usage } from '../dialects/findings.ts';
import { applyEdits, type Edit, replaceValue } from '../json/edit.ts';
import type { Json } from '../json/scan.ts';
import { createMakeTemplate, type EventTemplate, type Hole, readAlike } from './event-template.ts';
import { createHeldTexts } from './held-texts.ts';
import { type Hiding, hideLogprobs, hideMetadata, hideText, passes, tellPrograms } from './hide.ts';
import { encodeEvent, openEvent, type SseEvent } from './sse.ts';
import { createTextChannels, prefixesOf, type TextChannels } from './text-channels.ts';

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

  const spans: number[] = []; // of what fills its holes in the events after that

  /** What goes out in place of what fills a hole; undefined if that does. */
  function fill({ place }: Hole, from: number, to: number, event: LikeEvent): string | undefined {
    const { source } = event;
    if (place.kind === 'text') {
      const given = textAt(source, from, to);
      hiding.onText?.(given, place.channel);
      if (place.passes) return undefined;
      const text = texts.push(place.channel, place.family, given);
      held.remember(place.channel, texts.isHolding(place.channel) ? { event: spellOut(event) } : undefined);
      return text === given ? undefined : JSON.stringify(text);
    }
    if (place.kind === 'sequence') {
      const incoming = Number(source.slice(from, to));
      const number = numbers.renumber(incoming);
      return number === incoming ? undefined : String(number);
    }
    if (place.kind === 'count') raise(usage, place.of, Number(source.slice(from, to)));
    return undefined;
  }

  /** How many of so many events that are alike have a text that leaves as it is. All of them are searched at once. */
  function passTexts({ holes, hidden }: EventTemplate, source: string, events: number): number {
    const place = hidden === undefined ? undefined : holes[hidden]?.place;
    if (hidden === undefined || place?.kind !== 'text') return 0;
    const given: string[] = [];
    for (let at = 2 * hidden; given.length < events; at += 2 * holes.length) {
      given.push(textAt(source, spans[at] ?? 0, spans[at + 1] ?? 0));
    }
    const count = texts.pass(place.channel, given);
    if (hiding.onText) for (const text of given.slice(0, count)) hiding.onText(text, place.channel);
    return count;
  }

  return {
    /**
     * The outgoing form of the events from `start` on that are like the one before except for their holes, and where they end. Only
     * one of them if its text may be taken.
     */
    rewriteByTemplate(
      source: string,
      start: number,
      takeText?: TakeText,
    ): { readonly written: string; readonly end: number } | undefined {
      if (!template) return undefined;
      const { type, raw, out, isKept, holes, hidden, saysOneText } = template;
      const ends = readAlike(template, source, start, scrubber, spans, takeText ? 1 : Number.POSITIVE_INFINITY);
      const passing = takeText ? 0 : passTexts(template, source, ends.length);
      let written = '';
      let copied = start; // from here on the source goes out as it is, many events in one copy
      let at = start;
      let span = 0;
      for (let nth = 0; nth < ends.length; nth += 1) {
        const end = ends[nth] ?? at;
        const event = { type, source, start: at, end };
        let text: string | undefined;
        if (!isKept) {
          written += source.slice(copied, at) + out;
          copied = at + raw.length;
        }
        for (let index = 0; index < holes.length; index += 1, span += 2) {
          const [hole, from = 0, to = 0] = [holes[index], spans[span], spans[span + 1]];
          if (hole === undefined) continue;
          const filled = nth < passing && index === hidden ? undefined : fill(hole, from, to, event);
          if (takeText && saysOneText && hole.place.kind === 'text') text = filled ?? source.slice(from, to);
          const shown = hole.isShown ? filled : '';
          if (shown !== undefined) {
            written += source.slice(copied, from) + shown;
            copied = to;
          }
          if (!hole.isKept) {
            written += source.slice(copied, to) + hole.out;
            copied = to + hole.raw.length;
          }
        }
        at = end;
        if (text !== undefined && takeText?.(text)) return { written: '', end };
      }
      return at === start ? undefined : { written: written + source.slice(copied, at), end: at };
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

/** The text that a JSON string says. */
function textAt(source: string, from: number, to: number): string {
  const inner = source.slice(from + 1, to - 1);
  return inner.includes('\\') ? JSON.parse(`"${inner}"`) : inner;
}

/** An event that is like the template, and where it stands. */
interface LikeEvent {
  readonly type: string | undefined;
  readonly source: string;
  readonly start: number;
  readonly end: number;
}

function spellOut({ type, source, start, end }: LikeEvent): OutgoingEvent {
  return { type, data: source.slice(start + openEvent(type).length, end - 2) };
}
