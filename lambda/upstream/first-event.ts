import type { Readable } from 'node:stream';
import { UpstreamFailure } from './failure.ts';

/**
 * Asks for a stream, and waits at most `limit` milliseconds for its first event. After that the try is aborted, and fails so that failover
 * goes on to another upstream.
 */
export async function withinFirstEventLimit<Answer extends { readonly body: Readable }>(
  limit: number,
  signal: AbortSignal,
  ask: (signal: AbortSignal) => Promise<Answer>,
): Promise<Answer> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), limit);
  try {
    const answer = await ask(AbortSignal.any([signal, late.signal]));
    await waitForEvent(answer.body);
    return answer;
  } catch (error) {
    throw late.signal.aborted && !signal.aborted ? new UpstreamFailure('late', { cause: error }) : error;
  } finally {
    clearTimeout(timer);
  }
}

/** Waits for the first event, then puts back what was read. */
function waitForEvent(body: Readable): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const opening = createOpening();
  const read = () => {
    for (let chunk = body.read() as Buffer | null; chunk !== null; chunk = body.read() as Buffer | null) {
      opening.add(chunk);
    }
    if (!opening.hasEvent) return;
    body.off('readable', read);
    body.unshift(opening.bytes);
    resolve();
  };
  const fail = (cause?: unknown) => reject(new UpstreamFailure('unusable', { cause }));
  body.on('readable', read);
  body.once('error', fail);
  body.once('close', () => fail());
  body.once('end', () => fail());
  return promise;
}

/** In bytes. If comments and pings grow beyond this, only their end is kept. */
const longestSilence = 65_536;
/** In bytes. A longer line of data is no ping, even before it is complete. */
const longestPing = 1_024;
/** A carriage return at the end may be the first half of CRLF. */
const lineEnd = /\r\n|\n|\r(?=[\s\S])/g;
const someData = /^data:(?=.*\S)/;
const ping = /^event: ?ping$|^data:.*"type"\s*:\s*"ping"/;

/** The beginning of a stream, up to its first event. Comments and pings don't count. */
function createOpening() {
  /** One character for each byte, since everything searched for is ASCII. */
  let text = '';
  let [eventStart, lineStart, searched] = [0, 0, 0];
  let isPing = false;
  let hasEvent = false;

  function readLine(line: string, end: number): void {
    isPing ||= ping.test(line);
    if (line === '') [eventStart, isPing] = [end, false];
    else hasEvent ||= someData.test(line) && !isPing;
  }

  function forget(length: number): void {
    text = text.slice(length);
    [eventStart, lineStart, searched] = [Math.max(0, eventStart - length), lineStart - length, searched - length];
  }

  return {
    add(chunk: Buffer): void {
      text += chunk.toString('latin1');
      lineEnd.lastIndex = searched;
      for (let found = lineEnd.exec(text); found !== null; found = lineEnd.exec(text)) {
        const line = text.slice(lineStart, found.index);
        lineStart = lineEnd.lastIndex;
        readLine(line, lineStart);
      }
      searched = Math.max(lineStart, text.length - 1);
      hasEvent ||= !isPing && text.length - lineStart > longestPing && text.startsWith('data:', lineStart);
      if (hasEvent || text.length <= longestSilence) return;
      forget(text.length - eventStart <= longestSilence ? eventStart : lineStart);
      // The rest of an endless comment is still a comment.
      if (text.length > longestSilence) [text, searched] = [text.slice(0, 1), 1];
    },
    get hasEvent() {
      return hasEvent;
    },
    get bytes() {
      return Buffer.from(text, 'latin1');
    },
  };
}
