import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { buffer as readBytes } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { listenLocally } from '../../local/listen-locally.ts';

/** A request on its way to the gateway. */
export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Where it comes from. */
  readonly address?: string;
  /** One character per byte. */
  readonly body: string;
}

/** How the proxy changes requests and responses. */
export interface Meddling {
  asks?(asked: Asked): Asked;
  /** Sends an extra request before the client's. */
  alsoAsks?(asked: Asked): Asked | undefined;
  /** Closes the connection instead. */
  drops?(asked: Asked): boolean;
  status?(status: number, asked: Asked): number;
  headers?(headers: IncomingHttpHeaders, asked: Asked, status: number): IncomingHttpHeaders;
  /** Rewrites each chunk of a body. */
  text?(text: string, asked: Asked): string;
  /** Buffers bodies until their end. */
  readonly holdsBack?: boolean;
  readonly compresses?: boolean;
}

/** Applies all of them, in order. */
export function combine(all: readonly Meddling[]): Meddling {
  return {
    ...Object.assign({}, ...all),
    asks: (asked) => all.reduce((now, { asks = same }) => asks(now), asked),
    alsoAsks: (asked) => all.flatMap(({ alsoAsks }) => alsoAsks?.(asked) ?? [])[0],
    status: (given, asked) => all.reduce((now, { status = same }) => status(now, asked), given),
    headers: (given, asked, status) => all.reduce((now, { headers = same }) => headers(now, asked, status), given),
    text: (given, asked) => all.reduce((now, { text = same }) => text(now, asked), given),
  };
}

/** A proxy in front of a gateway that spoils its responses. */
export async function startMeddlingProxy(target: string, meddling: Meddling) {
  const { status = same, headers = same, text = same, asks = same } = meddling;

  const serve = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const { method = '', url: path = '', headers: given, socket } = incoming;
    const [address, body] = [socket.remoteAddress ?? '', (await readBytes(incoming)).toString('latin1')];
    const asked = asks({ method, path, headers: given, address, body });
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
    for await (const piece of meddling.holdsBack ? allAtOnce(answer) : answer) {
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

async function* allAtOnce(pieces: IncomingMessage): AsyncGenerator<Buffer> {
  yield await readBytes(pieces);
}
