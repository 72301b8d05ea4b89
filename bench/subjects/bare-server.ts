import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';

const agent = new Agent({ keepAlive: true });
const upstream = String(process.env.UPSTREAM_BASE_URL);

/** The lower bound: a server that only pipes requests to the upstream, and the responses back. */
const server = createServer(async (incoming, response) => {
  try {
    const headers = { 'content-type': 'application/json', 'content-length': incoming.headers['content-length'] };
    const outgoing = request(upstream + incoming.url?.slice('/v1'.length), { method: 'POST', headers, agent });
    response.once('close', () => outgoing.destroy());
    const answered = once(outgoing, 'response') as Promise<[IncomingMessage]>;
    await Promise.all([pipeline(incoming, outgoing), answered]);
    const [answer] = await answered;
    response.writeHead(answer.statusCode ?? 502, { 'content-type': answer.headers['content-type'] });
    await pipeline(answer, response);
  } catch {
    response.destroy();
  }
});
server.listen(0, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
