import type { Readable } from 'node:stream';
import { UpstreamFailure } from './failure.ts';

/**
 * Asks for a stream, and waits for its first event no longer than `limit` milliseconds. After that the try is cancelled, and fails so
 * that another upstream may be asked.
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

/** A line of data that is no ping. */
const eventLine = /^data:(?!.*"type"\s*:\s*"ping")/m;

/** In bytes. Whoever sends more has begun to answer. */
const longestSilence = 65_536;

/** Waits until an event has come. What has been read by then is put back. */
function waitForEvent(body: Readable): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const chunks: Buffer[] = [];
  let seen = '';
  const read = () => {
    for (let chunk = body.read() as Buffer | null; chunk !== null; chunk = body.read() as Buffer | null) {
      chunks.push(chunk);
      // Latin-1 keeps each byte, and the words looked for are ASCII.
      seen += chunk.toString('latin1');
    }
    if (!eventLine.test(seen) && seen.length < longestSilence) return;
    body.off('readable', read);
    body.unshift(Buffer.concat(chunks));
    resolve();
  };
  const fail = (cause?: unknown) => reject(new UpstreamFailure('unusable', { cause }));
  body.on('readable', read);
  body.once('error', fail);
  body.once('close', () => fail());
  body.once('end', () => fail());
  return promise;
}
