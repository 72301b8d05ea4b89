import { applyEdits, type Edit } from '../json/edit.ts';
import type { Json } from '../json/scan.ts';
import { codeAt, quote, trySkipString } from '../json/tokens.ts';
import type { MarkSheet, TextMark } from './marks.ts';
import { openEvent, type SseEvent } from './sse.ts';

/**
 * An event apart from the one text that it adds to a channel. Most events of a stream differ from the one before in that
 * text alone: for these nothing but the text needs to be looked at again.
 */
export interface Frame extends Pick<TextMark, 'channel' | 'family'> {
  /** What stands before and after the text when such an event comes, line by line. */
  readonly head: string;
  readonly tail: string;
  /** The type with which it leaves, and what stands before and after the text in its data. */
  readonly type: string | undefined;
  readonly outHead: string;
  readonly outTail: string;
}

/** The frame of an event that leaves with this type and these edits beside its text; undefined where more than a text matters in it. */
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
  if (end - start === 2) return undefined; // who says nothing takes no turn
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

/** The JSON string in the event of this frame that stands at `start`; undefined where another stands there, or not all of it. */
export function textInFrame({ head, tail }: Frame, text: string, start: number): string | undefined {
  const from = start + head.length;
  if (codeAt(text, from) !== quote || text.slice(start, from) !== head) return undefined;
  const end = trySkipString(text, from) >> 2; // below zero where it breaks off
  if (end - from <= 2 || text.slice(end, end + tail.length) !== tail) return undefined;
  return text.slice(from, end);
}
