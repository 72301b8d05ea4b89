import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** What a proxy does to answers that it should leave alone. */
export interface Meddling {
  /** Hands a stream over only when it has all of it. */
  readonly holdsBack?: boolean;
  status?(status: number, path: string): number;
  headers?(headers: IncomingHttpHeaders, path: string): IncomingHttpHeaders;
  /** Called with each piece of a body. */
  text?(text: string, path: string): string;
  /** Hangs up on requests for these paths. */
  drops?(path: string): boolean;
}

export interface Proxy extends AsyncDisposable {
  readonly url: string;
}

/** Stands in front of a gateway and spoils what comes out of it. */
export async function startMeddlingProxy(target: string, meddling: Meddling): Promise<Proxy> {
  const { status = (given) => given, headers = (given) => given, text = (given) => given, drops } = meddling;

  const serve = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const path = incoming.url ?? '';
    if (drops?.(path)) {
      outgoing.destroy();
      return;
    }
    const asked = request(target + path, { method: incoming.method, headers: incoming.headers, agent: false });
    asked.end(await buffer(incoming));
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    const { 'content-length': _, ...kept } = answer.headers;
    outgoing.writeHead(status(answer.statusCode ?? 0, path), headers(kept, path));
    if (meddling.holdsBack) outgoing.write(text(String(await buffer(answer)), path));
    else for await (const piece of answer) outgoing.write(text(String(piece), path));
    outgoing.end();
  };

  const server = createServer((incoming, outgoing) => {
    serve(incoming, outgoing).catch(() => outgoing.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
