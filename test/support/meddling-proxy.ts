import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { buffer as readBytes } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { listenLocally } from '../../local/listen-locally.ts';

/** A request on its way to the gateway. */
export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** A character for each byte. */
  readonly body: string;
}

/** What the proxy does to requests and answers. */
export interface Meddling {
  asks?(asked: Asked): Asked;
  /** Sends a request of its own before the client's. */
  alsoAsks?(asked: Asked): Asked | undefined;
  /** Hangs up. */
  drops?(asked: Asked): boolean;
  status?(status: number, asked: Asked): number;
  headers?(headers: IncomingHttpHeaders, asked: Asked, status: number): IncomingHttpHeaders;
  /** Called with each piece of a body. */
  text?(text: string, asked: Asked): string;
  /** Delays bodies: passes all of it at the end, all but the first piece, everything after a time, or so many bytes at once. */
  readonly holdsBack?: 'all' | 'rest' | { readonly milliseconds: number } | { readonly bytes: number };
  readonly compresses?: boolean;
}

export interface Proxy extends AsyncDisposable {
  readonly url: string;
}

/** A proxy in front of a gateway that spoils its answers. */
export async function startMeddlingProxy(target: string, meddling: Meddling): Promise<Proxy> {
  const { status = same, headers = same, text = same, asks = same } = meddling;

  const serve = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const { method = '', url = '', headers: given } = incoming;
    const asked = asks({ method, path: url, headers: given, body: (await readBytes(incoming)).toString('latin1') });
    if (meddling.drops?.(asked)) {
      outgoing.destroy();
      return;
    }
    const more = meddling.alsoAsks?.(asked);
    if (more) await readBytes(await forward(target, more));
    const answer = await forward(target, asked);
    const { 'content-length': _, 'transfer-encoding': __, ...kept } = answer.headers;
    const newStatus = status(answer.statusCode ?? 0, asked);
    const encoded = meddling.compresses ? { 'content-encoding': 'gzip' } : {};
    outgoing.writeHead(newStatus, { ...headers(kept, asked, newStatus), ...encoded });
    outgoing.flushHeaders();
    for await (const piece of holdBack(answer, meddling.holdsBack)) {
      outgoing.write(meddling.compresses ? gzipSync(piece) : text(String(piece), asked));
    }
    outgoing.end();
  };

  const server = createServer((incoming, outgoing) => {
    serve(incoming, outgoing).catch(() => outgoing.destroy());
  });
  const { url, close } = await listenLocally(server);
  return { url, [Symbol.asyncDispose]: close };
}

const same = <T>(given: T): T => given;

async function forward(target: string, { method, path, headers, body }: Asked): Promise<IncomingMessage> {
  const { 'content-length': _, 'transfer-encoding': __, ...kept } = headers;
  const asked = request(target + path, { method, headers: kept, agent: false });
  asked.end(body, 'latin1');
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  return answer;
}

async function* holdBack(pieces: AsyncIterable<Buffer>, how: Meddling['holdsBack']): AsyncGenerator<Buffer> {
  if (how === undefined) yield* pieces;
  else if (typeof how === 'object' && 'milliseconds' in how) yield* everySoOften(pieces, how.milliseconds);
  else if (typeof how === 'object') yield* inBlocks(pieces, how.bytes);
  else yield* allAtOnce(pieces, how === 'rest');
}

async function* allAtOnce(pieces: AsyncIterable<Buffer>, butTheFirst: boolean): AsyncGenerator<Buffer> {
  const held: Buffer[] = [];
  let passes = butTheFirst;
  for await (const piece of pieces) {
    if (passes) yield piece;
    else held.push(piece);
    passes = false;
  }
  yield Buffer.concat(held);
}

async function* inBlocks(pieces: AsyncIterable<Buffer>, size: number): AsyncGenerator<Buffer> {
  let held = Buffer.alloc(0);
  for await (const piece of pieces) {
    held = Buffer.concat([held, piece]);
    for (; held.length >= size; held = held.subarray(size)) yield held.subarray(0, size);
  }
  yield held;
}

/** What came in the meantime, again and again. */
async function* everySoOften(pieces: AsyncIterable<Buffer>, milliseconds: number): AsyncGenerator<Buffer> {
  const held: Buffer[] = [];
  let over = false;
  const collected = (async () => {
    for await (const piece of pieces) held.push(piece);
    over = true;
  })();
  while (!over) {
    await Promise.race([collected, wait(milliseconds)]);
    yield Buffer.concat(held.splice(0));
  }
}
