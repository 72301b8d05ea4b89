import type { Question } from '../dialects/dialect.ts';
import { scanLeniently } from '../json/lenient.ts';
import { createScanner } from '../json/scan.ts';
import { JsonFault } from '../json/tokens.ts';
import type { Hiding } from './hide.ts';
import { createMarkSheet, type Usage } from './marks.ts';
import { createEventRewriter } from './rewrite-event.ts';
import { createSseReader, encodeComment, encodeEvent, type SseEvent } from './sse.ts';

/** Bytes of an upstream's stream in, text for the client out. */
export interface StreamRewriter {
  /** Takes bytes; returns the text that may leave now. */
  push(chunk: Uint8Array): string;
  /** Returns the text still held back; call it when the upstream's stream is over, however it ended. */
  finish(): string;
  /** Whether a first event has come; comments and pings don't count. */
  readonly started: boolean;
  /** Whether the stream has reached its own end: anything after it is ignored. */
  readonly ended: boolean;
  readonly failure: StreamFailure | undefined;
  /** The number of the next event, if events are numbered. */
  readonly nextSequence: number;
}

/** Why a stream can't go on: the upstream reported a failure (`forwarded` if its event went out), or its stream is invalid. */
export type StreamFailure =
  | { readonly kind: 'reported'; readonly message: string; readonly forwarded: boolean }
  | { readonly kind: 'broken'; readonly cause: unknown };

export function createStreamRewriter({ dialect, asked }: Question, hiding: Hiding, usage: Usage): StreamRewriter {
  const reader = createSseReader({ onEvent: readEvent, onComment: readComment, takeEvent });
  const scanner = createScanner();
  const sheet = createMarkSheet(usage);
  const stream = dialect.openStream(asked);
  const events = createEventRewriter(stream, hiding, usage);
  let out = '';
  let started = false;
  let ended = false;
  let mayEnd = false;
  let finished = false;
  let failure: StreamFailure | undefined;

  function readComment(): void {
    if (started && !ended) out += encodeComment();
  }

  function readEvent(event: SseEvent): void {
    if (ended || failure) return;
    const data = event.data.trim();
    if (data === '[DONE]') {
      if (started) readDone();
      return;
    }
    if (data === '') {
      readComment();
      return;
    }
    const json = scanLeniently(scanner, event.data);
    sheet.clear();
    stream.readEvent(json, event.type, sheet.marks);
    if (sheet.alive && !started) {
      if (sheet.sequence !== undefined) events.skip();
      return;
    }
    if (sheet.failure && !(sheet.failure.forward && started)) {
      fail({ kind: 'reported', message: sheet.failure.message, forwarded: false });
      return;
    }
    if (sheet.withheld) {
      mayEnd = sheet.mayEnd;
      return;
    }
    started = true;
    out += events.rewrite(event, json, sheet);
    mayEnd = sheet.mayEnd;
    if (sheet.failure) failure = { kind: 'reported', message: sheet.failure.message, forwarded: true };
    ended = sheet.ends;
  }

  /** A fault after a complete answer is no failure. */
  function fail(reason: StreamFailure): void {
    if (ended) return;
    if (mayEnd) out += events.closeAll();
    else failure = reason;
    ended = mayEnd;
  }

  function takeEvent(text: string, start: number): number | undefined {
    if (ended || failure) return undefined;
    const repeated = events.repeat(text, start);
    out += repeated?.written ?? '';
    return repeated?.end;
  }

  function readDone(): void {
    out += events.closeAll() + encodeEvent({ data: '[DONE]' });
    ended = stream.doneEnds;
  }

  /** A last event without its blank line counts, unless its JSON was cut short. */
  function readRest(): void {
    try {
      const unfinished = reader.end();
      if (unfinished) readEvent(unfinished);
    } catch (cause) {
      if (!(cause instanceof JsonFault)) fail({ kind: 'broken', cause });
    }
  }

  function take(): string {
    const text = out;
    out = '';
    return text;
  }

  return {
    push(chunk) {
      try {
        reader.push(chunk);
      } catch (cause) {
        fail({ kind: 'broken', cause });
      }
      return take();
    },
    finish() {
      if (ended || finished) return '';
      finished = true;
      if (!failure) readRest();
      out += events.closeAll();
      ended ||= mayEnd && !failure;
      return take();
    },
    get started() {
      return started;
    },
    get ended() {
      return ended;
    },
    get failure() {
      return failure;
    },
    get nextSequence() {
      return events.nextSequence;
    },
  };
}
