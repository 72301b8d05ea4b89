import { applyEdits, type Edit } from '../json/edit.ts';
import type { Json } from '../json/scan.ts';
import { codeAt, quote, trySkipString } from '../json/tokens.ts';
import type { MarkSheet, TextMark } from './marks.ts';
import { openEvent, type SseEvent } from './sse.ts';

/**
 * An event without the one text that it adds to a channel. Most events of a stream differ from the one before only in that
 * text, so that only the text needs another look.
 */
export interface Frame extends Pick<TextMark, 'channel' | 'family'> {
  /** What comes before and after the text in the raw event. */
  readonly head: string;
  readonly tail: string;
  /** The outgoing type, and what comes before and after the text in the outgoing data. */
  readonly type: string | undefined;
  readonly outHead: string;
  readonly outTail: string;
}

/** The frame of an event with this outgoing type and these edits outside its text; undefined if more than one text matters in it. */
export function frameOf(
  json: Json,
  sheet: MarkSheet,
  event: SseEvent,
  { type, edits }: { readonly type: string | undefined; readonly edits: readonly Edit[] },
): Frame | undefined {
  const [mark, another] = sheet.deltas;
  if (!mark || another || event.id !== undefined) return undefined;
  if (sheet.wholes.length + sheet.tokens.length + sheet.closes.length > 0 || sheet.sequence !== undefined || sheet.ends)
    return undefined;
  const { text } = json;
  const [start, end] = [json.start(mark.value), json.end(mark.value)];
  if (end - start === 2) return undefined; // an empty text takes no turn
  if (text.includes('\n')) return undefined; // it came in several lines
  const head = text.slice(0, start);
  const tail = text.slice(end);
  const after = edits.filter((edit) => edit.start >= end);
  return {
    channel: mark.channel,
    family: mark.family,
    head: openEvent(event.type) + head,
    tail: `${tail}\n\n`,
    type,
    outHead: applyEdits(
      head,
      edits.filter((edit) => edit.end <= start),
    ),
    outTail: applyEdits(
      tail,
      after.map((edit) => ({ ...edit, start: edit.start - end, end: edit.end - end })),
    ),
  };
}

/** The JSON string of the event at `start`, if that event has this frame and is complete. */
export function textInFrame({ head, tail }: Frame, text: string, start: number): string | undefined {
  const from = start + head.length;
  if (codeAt(text, from) !== quote || text.slice(start, from) !== head) return undefined;
  const end = trySkipString(text, from) >> 2; // negative if it is incomplete
  if (end - from <= 2 || text.slice(end, end + tail.length) !== tail) return undefined;
  return text.slice(from, end);
}
