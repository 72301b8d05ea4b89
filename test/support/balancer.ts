import { createServer, request as send } from 'node:http';
import { listenLocally } from '../../local/listen-locally.ts';

/** A balancer in front of a server: it appends each caller's address to `x-forwarded-for`, as AWS documents it. */
export async function startBalancer(server: string) {
  const balancer = createServer((request, response) => {
    response.on('error', () => {});
    const { host: _, connection: __, ...headers } = request.headers;
    const said = request.headersDistinct['x-forwarded-for'] ?? [];
    const onward = send(new URL(request.url ?? '/', server), {
      method: request.method ?? 'GET',
      agent: false,
      headers: { ...headers, 'x-forwarded-for': [...said, request.socket.remoteAddress ?? ''].join(', ') },
    });
    onward.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    request.pipe(onward);
  });
  const { url, close } = await listenLocally(balancer);
  return { url, [Symbol.asyncDispose]: close };
}
