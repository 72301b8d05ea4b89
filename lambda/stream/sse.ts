import { createParser } from 'eventsource-parser';

export interface SseEvent {
  readonly type: string | undefined;
  readonly data: string;
  readonly id: string | undefined;
}

export interface SseHandlers {
  onEvent(event: SseEvent): void;
  /** A comment, without its text, which may name the upstream. */
  onComment(): void;
  /** Sees the raw text of an event before it is parsed. Returns where the event ends if it has handled it. */
  takeEvent?(text: string, start: number): number | undefined;
}

/** Thrown when an event has more bytes than allowed. The reader can't be used afterwards. */
export class SseLimitError extends RangeError {
  constructor(limit: number) {
    super(`An event of the stream is longer than ${limit} bytes`);
    this.name = 'SseLimitError';
  }
}

const mebibyte = 1024 * 1024;

/** Reads server-sent events from chunks split anywhere (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
export function createSseReader(handlers: SseHandlers, eventBytes = 32 * mebibyte) {
  // The parser already strips one byte order mark; the decoder would strip a second.
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let bytesSinceEvent = 0;
  let betweenEvents = false; // known only after two line feeds
  let ended = false;
  let unfinished: SseEvent | undefined;
  const parser = createParser({
    onEvent({ event: type, data, id }) {
      bytesSinceEvent = 0;
      if (ended) unfinished = { type, data, id };
      else handlers.onEvent({ type, data, id });
    },
    onComment() {
      if (!ended) handlers.onComment();
    },
  });

  function read(text: string): void {
    for (let at = 0, end = 0; at < text.length; at = end) {
      const taken = betweenEvents ? handlers.takeEvent?.(text, at) : undefined;
      if (taken === undefined) {
        const blankLine = text.indexOf('\n\n', at);
        betweenEvents = blankLine >= 0;
        end = betweenEvents ? blankLine + 2 : text.length;
        parser.feed(copyOf(text.slice(at, end)));
      } else {
        bytesSinceEvent = 0;
        end = taken;
      }
    }
  }

  return {
    /** Calls back for every event that the chunk completes. Throws an SseLimitError if an event gets too long. */
    push(chunk: Uint8Array): void {
      bytesSinceEvent += chunk.length;
      read(decoder.decode(chunk, { stream: true }));
      // The parser's own limit counts only characters of data, but floods of empty lines or tiny pieces cost far more.
      if (bytesSinceEvent > eventBytes) throw new SseLimitError(eventBytes);
    },
    /** Ends the input. Returns an event that lacks its blank line; it never reached `onEvent`. */
    end(): SseEvent | undefined {
      ended = true;
      // One line end for the unfinished line, one for the missing blank line.
      parser.feed(`${decoder.decode()}\n\n`);
      return unfinished;
    },
  };
}

/** A slice retains the whole string in memory, and parts of an event are kept for long. */
const copyOf = (text: string): string => Buffer.from(text).toString();

/** One event in its canonical form. */
export function encodeEvent(event: {
  readonly type?: string | undefined;
  readonly id?: string | undefined;
  readonly data: string;
}): string {
  return `${openEvent(event.type, event.id)}${event.data.replace(lineEnd, '\ndata: ')}\n\n`;
}

/** The beginning of an event in canonical form, up to its data. */
export function openEvent(type?: string, id?: string): string {
  return `${type === undefined ? '' : `event: ${type}\n`}${id === undefined ? '' : `id: ${id}\n`}data: `;
}

/** A keep-alive: clients skip comments. */
export const comment = ': keep-alive\n\n';

const lineEnd = /\r\n?|\n/g;
