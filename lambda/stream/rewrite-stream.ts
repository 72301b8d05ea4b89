import type { Dialect, OutgoingEvent } from '../dialects/dialect.ts';
import { applyEdits, replaceValue } from '../json/edit.ts';
import { JsonFault } from '../json/fault.ts';
import { createScanner, type Json, type Node } from '../json/scan.ts';
import { type Hiding, hideFrame, hideText } from './hide.ts';
import { createMarkSheet, type Usage } from './marks.ts';
import { createSseReader, encodeComment, encodeEvent, type SseEvent } from './sse.ts';
import { createTexts } from './texts.ts';

/** Bytes of an upstream's stream in, text for the client out. */
export interface StreamRewriter {
  /** What may leave now. */
  push(chunk: Uint8Array): string;
  /** What was still held back; call it when the upstream's stream is over, however it ended. */
  finish(): string;
  /** Whether a first event has come: comments and pings are none. */
  readonly started: boolean;
  /** Whether the stream has reached its own end: anything after it is ignored. */
  readonly ended: boolean;
  readonly failure: StreamFailure | undefined;
  /** The number that the next event carries, where events are counted. */
  readonly nextSequence: number;
}

/** Why a stream can't go on: the upstream reported it (`forwarded` where the client has been told), or it sends no such stream. */
export type StreamFailure =
  | { readonly kind: 'reported'; readonly message: string; readonly forwarded: boolean }
  | { readonly kind: 'broken'; readonly cause: unknown };

export function createStreamRewriter(dialect: Dialect, hiding: Hiding, usage: Usage): StreamRewriter {
  const { scrubber } = hiding;
  const reader = createSseReader({ onEvent: readEvent, onComment: readComment });
  const scanner = createScanner();
  const sheet = createMarkSheet(usage);
  const stream = dialect.openStream();
  const texts = createTexts(scrubber);
  /** By channel that holds text back: its last event as it went out, the model of one that will carry that text. */
  const lasts = new Map<string, OutgoingEvent>();
  let out = '';
  let started = false;
  let ended = false;
  let mayEnd = false;
  let over = false;
  let failure: StreamFailure | undefined;
  let lastSequence = -1;
  let shift = 0; // between the upstream's numbers of events and ours

  function readComment(): void {
    if (started && !ended) out += encodeComment();
  }

  function readEvent(event: SseEvent): void {
    if (ended || failure) return;
    if (event.data === '[DONE]') {
      if (started) readDone();
      return;
    }
    const json = scanner.scan(event.data);
    sheet.clear();
    stream.readEvent(json, event.type, sheet.marks);
    if (sheet.alive && !started) {
      if (sheet.sequence !== undefined) shift -= 1;
      return;
    }
    if (sheet.failure && !(sheet.failure.forward && started)) {
      failure = { kind: 'reported', message: sheet.failure.message, forwarded: false };
      return;
    }
    started = true;
    mayEnd = sheet.mayEnd;
    releaseTexts(json);
    const rewritten = { type: event.type && scrubber.scrub(event.type), data: rewrite(json) };
    out += encodeEvent({ ...rewritten, id: event.id && scrubber.scrub(event.id) });
    for (const { channel } of sheet.deltas) {
      if (texts.isHolding(channel)) lasts.set(channel, rewritten);
      else lasts.delete(channel);
    }
    if (sheet.failure) failure = { kind: 'reported', message: sheet.failure.message, forwarded: true };
    ended = sheet.ends;
  }

  function readDone(): void {
    closeAll();
    out += encodeEvent({ data: '[DONE]' });
    ended = stream.doneEnds;
  }

  /** Lets go, before an event, what channels hold back that end with it or lose the word to another. */
  function releaseTexts(json: Json): void {
    for (const prefix of sheet.turns) {
      for (const channel of lasts.keys()) {
        const speaks = sheet.deltas.some((mark) => mark.channel === channel && !isEmpty(json, mark.value));
        if (channel.startsWith(prefix) && !speaks) close(channel);
      }
    }
    for (const prefix of sheet.closes) {
      for (const channel of texts.channels()) {
        // One that this very event adds to can end in it.
        const speaks = sheet.deltas.some((mark) => mark.channel === channel);
        if (channel.startsWith(prefix) && !speaks) close(channel);
      }
    }
  }

  function rewrite(json: Json): string {
    const edits = hideFrame(json, sheet, hiding);
    for (const mark of sheet.deltas) {
      const given = json.string(mark.value);
      let text = texts.push(mark.channel, mark.family, given);
      if (sheet.closes.some((prefix) => mark.channel.startsWith(prefix))) text += texts.close(mark.channel);
      hideText(json, mark, given, text, edits);
    }
    for (const mark of sheet.wholes) {
      const given = json.string(mark.value);
      hideText(json, mark, given, texts.whole(mark.channel, mark.family, given), edits);
    }
    if (sheet.sequence !== undefined) {
      lastSequence = Number(json.raw(sheet.sequence)) + shift;
      if (shift !== 0) edits.push(replaceValue(json, sheet.sequence, String(lastSequence)));
    }
    return applyEdits(json.text, edits);
  }

  function closeAll(): void {
    for (const channel of texts.channels()) close(channel);
  }

  /** Ends a channel; what it held back leaves in an event of our own. */
  function close(channel: string): void {
    const text = texts.close(channel);
    const last = lasts.get(channel);
    lasts.delete(channel);
    if (text === '' || !last) return;
    shift += 1;
    lastSequence += 1;
    out += encodeEvent(stream.textEvent(last, channel, text, lastSequence));
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
        failure = { kind: 'broken', cause };
      }
      return take();
    },
    finish() {
      if (ended || over) return '';
      over = true;
      if (!failure) readRest();
      closeAll();
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
      return lastSequence + 1;
    },
  };

  /** The last event counts without its blank line, if it is whole; one that was cut short is none. */
  function readRest(): void {
    try {
      const unfinished = reader.end();
      if (unfinished) readEvent(unfinished);
    } catch (cause) {
      if (!(cause instanceof JsonFault)) throw cause;
    }
  }
}

function isEmpty(json: Json, string: Node): boolean {
  return json.end(string) - json.start(string) === 2;
}
