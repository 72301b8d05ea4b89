import type { Readable } from 'node:stream';

/** Hands on at once what one read of a connection brings, as it may hold ten thousand chunks of a byte. Returns what hands on the rest. */
export function joinChunks(body: Readable, take: (bytes: Buffer) => void): () => void {
  let arrived: Buffer[] = [];
  const flush = () => {
    const bytes = arrived.length > 1 ? Buffer.concat(arrived) : arrived[0];
    arrived = [];
    if (bytes) take(bytes);
  };
  body.on('data', (chunk: Buffer) => {
    if (arrived.push(chunk) === 1) process.nextTick(flush);
  });
  return flush;
}
