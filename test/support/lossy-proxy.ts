import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { listenLocally } from '../../local/listen-locally.ts';

export interface LossyProxy {
  readonly endpoint: string;
  /** The operations that came through, such as `UpdateItem`, in order. */
  readonly operations: string[];
  /** The next so many requests reach the store, but their answers are lost. */
  loseAnswers(count: number): void;
  close(): Promise<void>;
}

/** Stands between a client and an emulated DynamoDB. */
export async function startLossyProxy(target: string): Promise<LossyProxy> {
  const operations: string[] = [];
  let losing = 0;
  const server = createServer(async (request, response) => {
    const operation = String(request.headers['x-amz-target']);
    operations.push(operation.slice(operation.indexOf('.') + 1));
    const lost = losing > 0;
    if (lost) losing -= 1;
    const headers = Object.entries(request.headers).filter(([name]) =>
      /^(x-amz|content-type|authorization)/.test(name),
    );
    const answer = await fetch(target, {
      method: 'POST',
      headers: headers.map(([name, value]): [string, string] => [name, String(value)]),
      body: await buffer(request),
    });
    const body = Buffer.from(await answer.arrayBuffer());
    if (lost) request.socket.destroy();
    else response.writeHead(answer.status, { 'content-type': 'application/x-amz-json-1.0' }).end(body);
  });
  const { url, close } = await listenLocally(server);
  return {
    endpoint: url,
    operations,
    loseAnswers: (count) => {
      losing = count;
    },
    close,
  };
}
