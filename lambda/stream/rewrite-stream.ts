import type { AnswerFormat, StreamDialect } from '../dialects/dialect.ts';
import { createFindings, type Findings, type Usage } from '../dialects/model/findings.ts';
import type { Written } from '../json/pieces.ts';
import { createScanner, scanLeniently } from '../json/scan.ts';
import { JsonFault } from '../json/tokens.ts';
import { isOverLimit } from '../upstream/failure.ts';
import type { Rewriting } from './rewrite-answer.ts';
import { createEventRewriter, type EventRewriter, type TakeText } from './rewrite-event.ts';
import { comment, createSseReader, encodeEvent, type SseEvent, type SseHandlers } from './sse.ts';

/** Bytes of an upstream's stream in, text for the client out. */
export interface StreamRewriter<Out extends Written = Written> {
  /** Takes bytes; returns the text that can go out now. */
  push(chunk: Uint8Array): Out;
  /** Returns the text still held back. Call it when the upstream's stream is over, however it ended. */
  finish(): Out;
  /** Whether the first event has arrived; comments and pings don't count. */
  readonly started: boolean;
  /** Whether the stream has sent its final event: anything after it is ignored. */
  readonly ended: boolean;
  /** Whether the answer is complete, so that the stream may end here; its usage may still follow. */
  readonly mayEnd: boolean;
  readonly failure: StreamFailure | undefined;
  /** The number of the next event, if events are numbered. */
  nextSequence(): number;
}

/** The rewriter until there is an answer. */
export const notBegun: StreamRewriter = {
  push: () => '',
  finish: () => '',
  started: false,
  ended: false,
  mayEnd: false,
  failure: undefined,
  nextSequence: () => 0,
};

/** Why a stream can't go on: the upstream reported a failure (`forwarded` if its event went out), or its stream is invalid. */
export type StreamFailure =
  | { readonly kind: 'reported'; readonly message: string; readonly forwarded: boolean }
  /** `charged`: the upstream has done its part, so the request stays charged. */
  | { readonly kind: 'broken'; readonly cause: unknown; readonly charged?: boolean };

/** Takes the events of a stream in place of the client, each before the next one is parsed. */
export interface EventTaker {
  takeEvents(events: string): void;
  readonly takeText: TakeText;
}

export function createStreamRewriter(
  format: AnswerFormat,
  hiding: Rewriting,
  usage: Usage,
  taker?: EventTaker,
): StreamRewriter<string> {
  const stream = format.dialect.openStream(format.expected);
  const events = createEventRewriter(stream, hiding);
  const progress = createProgress(events, taker);
  const handlers = createHandlers(stream, events, createFindings(usage), progress, taker?.takeText);
  const reader = createSseReader(handlers);
  let finished = false;

  return Object.assign(progress, {
    push(chunk: Uint8Array) {
      try {
        reader.push(chunk);
      } catch (cause) {
        progress.fail(brokenBy(cause));
      }
      return progress.take();
    },
    finish() {
      if (progress.ended || finished) return '';
      finished = true;
      try {
        // A last event without its blank line counts, unless its JSON is truncated.
        const unfinished = progress.failure ? undefined : reader.end();
        if (unfinished) handlers.onEvent(unfinished);
      } catch (cause) {
        if (!(cause instanceof JsonFault) || isOverLimit(cause)) progress.fail(brokenBy(cause));
      }
      progress.write(events.closeAll());
      progress.ended ||= progress.mayEnd && !progress.failure;
      return progress.take();
    },
    nextSequence: events.nextSequence,
  });
}

const brokenBy = (cause: unknown): StreamFailure => ({ kind: 'broken', cause, charged: isOverLimit(cause) });

type Progress = ReturnType<typeof createProgress>;

/** The state of a stream, and its pending output. */
function createProgress(events: EventRewriter, taker: EventTaker | undefined) {
  let out = '';
  const progress = {
    started: false,
    ended: false,
    mayEnd: false,
    failure: undefined as StreamFailure | undefined,
    write(written: string) {
      if (taker) taker.takeEvents(written);
      else out += written;
    },
    take(): string {
      const text = out;
      out = '';
      return text;
    },
    /** After a complete answer a fault is not a failure. */
    fail(reason: StreamFailure) {
      if (progress.ended) return;
      if (progress.mayEnd) progress.write(events.closeAll());
      else progress.failure = reason;
      progress.ended = progress.mayEnd;
    },
  };
  return progress;
}

/** Handles events until the stream has ended or failed. */
function createHandlers(
  stream: StreamDialect,
  events: EventRewriter,
  found: Findings,
  progress: Progress,
  takeText: TakeText | undefined,
): SseHandlers {
  const scanner = createScanner();

  function onComment(): void {
    if (progress.started && !progress.ended) progress.write(comment);
  }

  /** Some servers end other dialects with `[DONE]` too. It is passed through if it arrives with the last event: nobody waits for it. */
  function readDone(): void {
    const isEnd = stream.readDone !== undefined;
    if (!progress.started || (progress.ended && (isEnd || takeText))) return;
    stream.readDone?.();
    progress.write(events.closeAll() + encodeEvent({ data: '[DONE]' }));
    progress.ended ||= isEnd;
  }

  function readJson(event: SseEvent): void {
    const json = scanLeniently(scanner, event.data);
    found.clear();
    stream.readEvent(json, event.type, found);
    const { failure } = found;
    if (found.isAlive && !progress.started) {
      if (found.sequence !== undefined) events.skip();
    } else if (failure && !(failure.forward && progress.started)) {
      progress.fail({ kind: 'reported', message: failure.message, forwarded: false });
    } else {
      if (!found.isWithheld) {
        progress.started = true;
        progress.write(events.release(json, found));
        progress.write(events.rewrite(event, json, found));
        if (failure) progress.failure = { kind: 'reported', message: failure.message, forwarded: true };
        progress.ended = found.ends;
      }
      progress.mayEnd = found.mayEnd;
    }
  }

  return {
    onComment,
    onEvent(event) {
      if (progress.failure) return;
      const data = event.data.trim();
      if (data === '[DONE]') readDone();
      else if (progress.ended) return;
      else if (data === '') onComment();
      else readJson(event);
    },
    takeEvent(text, start) {
      if (progress.ended || progress.failure) return undefined;
      const rewritten = events.rewriteAlike(text, start, takeText);
      if (rewritten?.written) progress.write(rewritten.written);
      return rewritten?.end;
    },
  };
}
