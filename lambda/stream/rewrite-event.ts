import type { OutgoingEvent, StreamDialect } from '../dialects/dialect.ts';
import { applyEdits, replaceValue } from '../json/edit.ts';
import type { Json } from '../json/scan.ts';
import { createMakeTemplate, type EventTemplate, type Hole, readHoles } from './event-template.ts';
import { createHeldTexts, type LastEvent } from './held-texts.ts';
import { type Hiding, hideFrame, hideText, hideTokens } from './hide.ts';
import { type MarkSheet, raise, type Usage } from './marks.ts';
import { encodeEvent, openEvent, type SseEvent } from './sse.ts';
import { createTexts, prefixesOf } from './texts.ts';

/** Writes the events of one stream as a client may see them, in wire form. */
export interface EventRewriter {
  /** If the event at `start` is like the one before except for its holes: its outgoing form, and where it ends. */
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

export function createEventRewriter(stream: StreamDialect, hiding: Hiding, usage: Usage): EventRewriter {
  const { scrubber } = hiding;
  const texts = createTexts(scrubber);
  const held = createHeldTexts(stream, texts, hiding, () => {
    shift += 1;
    lastSequence += 1;
    return lastSequence;
  });
  const makeTemplate = createMakeTemplate();
  let template: EventTemplate | undefined; // of the event before
  let lastSequence = -1;
  let shift = 0; // from the upstream's event numbers to the outgoing ones

  function hide(event: SseEvent, json: Json, sheet: MarkSheet): OutgoingEvent {
    const type = event.type && scrubber.scrub(event.type);
    const edits = hideFrame(json, sheet, hiding);
    template = makeTemplate(json, sheet, event, { type, edits, unread: () => stream.unread(json) });
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

  /** What goes out at a hole; `last` is the event that it is in. */
  function fill({ place }: Hole, value: string, last: () => LastEvent): string {
    if (place.kind === 'text') {
      const given: string = value.includes('\\') ? JSON.parse(value) : value.slice(1, -1);
      const text = texts.push(place.channel, place.family, given);
      held.keep(place.channel, last);
      return text === given ? value : JSON.stringify(text);
    }
    if (place.kind === 'sequence') {
      lastSequence = Number(value) + shift;
      return String(lastSequence);
    }
    if (place.kind === 'count') raise(usage, place.of, Number(value));
    return value;
  }

  return {
    repeat(source, start) {
      const found = template && readHoles(template, source, start, scrubber);
      if (!template || !found) return undefined;
      const { type, out, holes } = template;
      const { values, end } = found;
      const last = () => ({ event: { type, data: source.slice(start + openEvent(type).length, end - 2) } });
      let written = out;
      for (let at = 0; at < holes.length; at += 1) {
        const [hole, value] = [holes[at], values[at]];
        if (hole === undefined || value === undefined) continue;
        const shown = fill(hole, value, last);
        if (hole.isShown) written += shown + hole.out;
      }
      return { written: `${written}\n\n`, end };
    },
    rewrite(event, json, sheet) {
      held.countRead(json.text.length);
      const released = held.release(json, sheet);
      const written = hide(event, json, sheet);
      const last = { event: { type: event.type, data: json.text } };
      for (const { channel } of sheet.deltas) held.keep(channel, () => last);
      return released + encodeEvent({ ...written, id: event.id && scrubber.scrub(event.id) });
    },
    skip() {
      template = undefined;
      shift -= 1;
    },
    closeAll: held.releaseAll,
    get nextSequence() {
      return lastSequence + 1;
    },
  };
}
