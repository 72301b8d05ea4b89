import { applyEdits, type Edit } from '../json/edit.ts';
import type { Json } from '../json/scan.ts';
import { codeAt, quote, skipString } from '../json/tokens.ts';
import type { MarkSheet, TextMark } from './marks.ts';
import type { SseEvent } from './sse.ts';

/**
 * An event apart from the one text that it adds to a channel. Most events of a stream differ from the one before in that
 * text alone: for these nothing but the text needs to be looked at again.
 */
export interface Frame extends Pick<TextMark, 'channel' | 'family'> {
  readonly type: string | undefined;
  readonly outType: string | undefined;
  /** What stands before and after the text, as it came and as it leaves. */
  readonly head: string;
  readonly tail: string;
  readonly outHead: string;
  readonly outTail: string;
}

/** The frame of an event that leaves with this type and these edits beside its text; undefined where more than a text matters in it. */
export function frameOf(
  json: Json,
  sheet: MarkSheet,
  event: SseEvent,
  { type: outType, edits }: { readonly type: string | undefined; readonly edits: readonly Edit[] },
): Frame | undefined {
  const [mark, another] = sheet.deltas;
  if (!mark || another || mark.logprobs !== undefined || event.id !== undefined) return undefined;
  if (sheet.wholes.length + sheet.closes.length > 0 || sheet.sequence !== undefined || sheet.ends) return undefined;
  const { text } = json;
  const [start, end] = [json.start(mark.value), json.end(mark.value)];
  if (end - start === 2) return undefined; // who says nothing takes no turn
  const head = text.slice(0, start);
  const tail = text.slice(end);
  const after = edits.filter((edit) => edit.start >= end);
  return {
    channel: mark.channel,
    family: mark.family,
    type: event.type,
    outType,
    head,
    tail,
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

/** The JSON string that an event of this frame carries; undefined for any other event. Throws where the string is none. */
export function textInFrame({ type, head, tail }: Frame, event: SseEvent): string | undefined {
  const { data } = event;
  const start = head.length;
  const end = data.length - tail.length;
  const isLike = end - start > 2 && event.type === type && event.id === undefined;
  if (!isLike || !data.startsWith(head) || !data.endsWith(tail) || codeAt(data, start) !== quote) return undefined;
  return skipString(data, start) >>> 2 === end ? data.slice(start, end) : undefined;
}
