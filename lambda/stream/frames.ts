import { applyEdits, type Edit } from '../json/edit.ts';
import type { Json } from '../json/scan.ts';
import { codeAt, quote, trySkipString } from '../json/tokens.ts';
import type { MarkSheet, TextMark } from './marks.ts';
import { openEvent, type SseEvent } from './sse.ts';

/** A piece of an event that stays the same: as it comes in, and as it goes out. */
interface Piece {
  readonly raw: string;
  readonly out: string;
}

/**
 * An event without the one text that it adds to a channel and without its number, if it has one. Most events of a stream
 * differ from the one before only in these, so that only they need another look.
 */
export interface Frame extends Pick<TextMark, 'channel' | 'family'> {
  /** The outgoing type. */
  readonly type: string | undefined;
  /** Up to the first gap: the raw event with its type, and the outgoing data. */
  readonly head: Piece;
  /** Between the two gaps, if there is a number. */
  readonly middle: Piece;
  /** After the last gap. */
  readonly tail: Piece;
  readonly number: 'none' | 'before the text' | 'after the text';
}

/** What fills the gaps of a frame. */
export interface Filling {
  /** The text as a JSON string. */
  readonly literal: string;
  readonly number: number | undefined;
  /** Where the event ends. */
  readonly end: number;
}

/** The frame of an event with this outgoing type and these edits outside its gaps; undefined if more than one text matters in it. */
export function frameOf(
  json: Json,
  sheet: MarkSheet,
  event: SseEvent,
  { type, edits }: { readonly type: string | undefined; readonly edits: readonly Edit[] },
): Frame | undefined {
  const [mark, another] = sheet.deltas;
  if (!mark || another || event.id !== undefined) return undefined;
  if (sheet.wholes.length + sheet.tokens.length + sheet.closes.length > 0 || sheet.ends) return undefined;
  const { text } = json;
  const { channel, family, value } = mark;
  const [start, end] = [json.start(value), json.end(value)];
  if (end - start === 2) return undefined; // an empty text takes no turn
  if (text.includes('\n')) return undefined; // it came in several lines
  const piece = (from: number, to: number): Piece => {
    const raw = text.slice(from, to);
    const inside = edits.filter((edit) => edit.start >= from && edit.end <= to);
    const out = inside.map((edit) => ({ ...edit, start: edit.start - from, end: edit.end - from }));
    return { raw, out: applyEdits(raw, out) };
  };
  const framed = (number: Frame['number'], head: Piece, middle: Piece, tail: Piece): Frame => ({
    ...{ channel, family, type, number, middle },
    head: { raw: openEvent(event.type) + head.raw, out: head.out },
    tail: { raw: `${tail.raw}\n\n`, out: tail.out },
  });
  const { sequence } = sheet;
  if (sequence === undefined) return framed('none', piece(0, start), nothing, piece(end, text.length));
  const [numberStart, numberEnd] = [json.start(sequence), json.end(sequence)];
  return numberStart < start
    ? framed('before the text', piece(0, numberStart), piece(numberEnd, start), piece(end, text.length))
    : framed('after the text', piece(0, start), piece(end, numberStart), piece(numberEnd, text.length));
}

const nothing: Piece = { raw: '', out: '' };

/** What fills this frame in the event at `start`, if that event has it and is complete. */
export function fillingOf({ head, middle, tail, number }: Frame, text: string, start: number): Filling | undefined {
  let at = start + head.raw.length;
  if (number === 'none' && codeAt(text, at) !== quote) return undefined;
  if (text.slice(start, at) !== head.raw) return undefined;
  let digits = '';
  if (number === 'before the text') {
    digits = digitsAt(text, at);
    at = afterPiece(text, at + digits.length, middle);
    if (digits === '' || at < 0) return undefined;
  }
  const textEnd = codeAt(text, at) === quote ? trySkipString(text, at) >> 2 : -1; // negative if it is incomplete
  if (textEnd - at <= 2) return undefined;
  const literal = text.slice(at, textEnd);
  at = textEnd;
  if (number === 'after the text') {
    at = afterPiece(text, at, middle);
    digits = at < 0 ? '' : digitsAt(text, at);
    if (digits === '') return undefined;
    at += digits.length;
  }
  const end = afterPiece(text, at, tail);
  if (end < 0) return undefined;
  return { literal, number: number === 'none' ? undefined : Number(digits), end };
}

/** The end of the piece at `at`; negative if it isn't there. */
function afterPiece(text: string, at: number, { raw }: Piece): number {
  const end = at + raw.length;
  return text.slice(at, end) === raw ? end : -1;
}

const mostDigits = 15;

/** A whole number as JSON spells it, not so long that it would lose a digit; empty if there is none. */
function digitsAt(text: string, at: number): string {
  let end = at;
  while (end - at <= mostDigits && isDigit(codeAt(text, end))) end += 1;
  const digits = text.slice(at, end);
  return digits.length > mostDigits || (digits.length > 1 && digits.startsWith('0')) ? '' : digits;
}

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;
