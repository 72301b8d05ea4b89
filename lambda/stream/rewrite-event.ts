import type { StreamDialect } from '../dialects/dialect.ts';
import type { Findings } from '../dialects/model/findings.ts';
import { hideLogprobs, hideMetadata, hideText, passes } from '../hiding/hide.ts';
import { createTextChannels, prefixesOf, type TextChannels } from '../hiding/text-channels.ts';
import { applyEdits, type Edit, replaceValue } from '../json/edit.ts';
import type { Json } from '../json/scan.ts';
import { type EventTemplate, makeTemplate, readAlike } from './event-template.ts';
import { createHeldTexts } from './held-texts.ts';
import { type Rewriting, reportToolArguments } from './rewrite-answer.ts';
import { encodeEvent, openEvent, type SseEvent } from './sse.ts';
import { createVoidSignatures, noteChanges, signedFamily } from './void-reasoning.ts';

export type EventRewriter = ReturnType<typeof createEventRewriter>;

/** The fast path of a translated stream: takes the JSON string of an event in which only the text is new. False emits the event instead. */
export type TakeText = (text: string) => boolean;

/** In a stream, the order of events alone says what came before. */
const samePlace = (): number => 0;

interface WrittenEvent {
  readonly written: string;
  /** Where the event ends in the source. */
  readonly end: number;
}

/** Rewrites the events of one stream for the client, in wire format. */
export function createEventRewriter(stream: StreamDialect, hiding: Rewriting) {
  const { scrubber, voiding } = hiding;
  const voidSignatures = voiding && createVoidSignatures(voiding);
  const texts = createTextChannels(scrubber);
  const numbers = createNumbering();
  const held = createHeldTexts(stream, texts, hiding, numbers.insert);
  let template: EventTemplate | undefined; // of the previous event

  /** Rewrites the text of an event that matches the template. In and out as a JSON string. */
  function rewriteText({ type, text: place }: EventTemplate, raw: string, data: string): string {
    const given = textIn(raw);
    hiding.onText?.(given, place.channel);
    if (passes(place, hiding)) return raw;
    const text = texts.push(place.channel, place.family, given);
    held.remember(place, texts.isHolding(place.channel) ? { event: { type, data } } : undefined);
    return text === given ? raw : JSON.stringify(text);
  }

  return {
    /** The fast path: rewrites the event at `start` if it matches the template; undefined otherwise. Empty if `takeText` took its text. */
    rewriteAlike(source: string, start: number, takeText?: TakeText): WrittenEvent | undefined {
      const like = template && readAlike(template, source, start, scrubber);
      if (!template || !like) return undefined;
      const { end, fillings } = like;
      let written = '';
      for (const [nth, { out, hole }] of template.parts.entries()) {
        written += out;
        const raw = fillings[nth] ?? '';
        if (hole === 'text') {
          const text = rewriteText(template, raw, source.slice(start + openEvent(template.type).length, end - 2));
          if (takeText?.(text)) return { written: '', end };
          written += text;
        } else written += hole === 'sequence' ? numbers.renumber(Number(raw)) : raw;
      }
      return { written, end };
    },
    /** The slow path: rewrites a parsed event. */
    rewrite(event: SseEvent, json: Json, found: Findings): string {
      const type = event.type && scrubber.scrub(event.type);
      const edits = hideMetadata(json, found, hiding);
      if (voiding) {
        // Text held back while reasoning passes may still be changed when it goes out afterwards.
        const isReasoning = found.content.length > 0 && found.deltas.every(({ family }) => family === signedFamily);
        const isUncertain = isReasoning && held.isHoldingSpeech();
        if (isUncertain || texts.isChangedBut(signedFamily)) voiding.changes.note();
        noteChanges(json, found, edits, voiding, samePlace);
      }
      template = makeTemplate(json, found, event, type, edits);
      hideTexts(json, found, texts, hiding, edits);
      reportToolArguments(json, found, hiding, true);
      hideLogprobs(json, found, texts, hiding, edits);
      if (voidSignatures) edits.push(...voidSignatures(json, found, samePlace));
      if (found.sequence !== undefined) {
        const incoming = Number(json.raw(found.sequence));
        const number = numbers.renumber(incoming);
        if (number !== incoming) edits.push(replaceValue(json, found.sequence, String(number)));
      }
      const last = { event: { type: event.type, data: json.text } };
      for (const one of found.deltas) held.remember(one, texts.isHolding(one.channel) ? last : undefined);
      return encodeEvent({ type, data: applyEdits(json.text, edits), id: event.id && scrubber.scrub(event.id) });
    },
    /** Held texts that must go out before an event. */
    release: held.release,
    /** Drops a numbered event. */
    skip: numbers.skip,
    closeAll: held.releaseAll,
    nextSequence: numbers.next,
  };
}

/** Renumbers events on the way out: an inserted or dropped event shifts the ones after it. */
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

function hideTexts(json: Json, found: Findings, texts: TextChannels, hiding: Rewriting, edits: Edit[]): void {
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

/** Decodes a JSON string. */
function textIn(quoted: string): string {
  return quoted.includes('\\') ? JSON.parse(quoted) : quoted.slice(1, -1);
}
