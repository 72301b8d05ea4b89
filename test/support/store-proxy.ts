import { once } from 'node:events';
import { Agent, createServer, request as forward, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { listenLocally } from '../../local/listen-locally.ts';
import { turnEventLoop } from './wait-until.ts';

/** A fault to inject into an operation. */
export type StoreFault =
  | 'request lost' // never reaches the store
  | 'answer lost' // carried out, but the connection breaks before the response
  | 'failing' // 500
  | 'throttled'
  | 'refusing' // the session token has expired
  | 'late' // delayed by many turns of the event loop
  | 'silent' // carried out, but never answered
  | Promise<unknown>; // carried out, and answered once the test resolves this

export interface StoreOperation {
  /** Such as `UpdateItem`. */
  readonly name: string;
  /** The attempt's number, from 1, as the client reports it. */
  readonly attempt: number;
  readonly body: string;
}

/** Chooses the fault of an operation, if any. */
export type SpoilStore = (operation: StoreOperation) => StoreFault | undefined;

/** A proxy between the gateway and an emulated DynamoDB that injects faults. */
export async function startStoreProxy(target: string, spoil: SpoilStore = () => undefined) {
  const operations: StoreOperation[] = [];
  const agent = new Agent({ keepAlive: true });
  let decide = spoil;
  const refusal = (type: string) => JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${type}` });

  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    const operation = {
      name: String(request.headers['x-amz-target']).replace(/^.*\./, ''),
      attempt: Number(/attempt=(\d+)/.exec(String(request.headers['amz-sdk-request']))?.[1] ?? 1),
      body: body.toString(),
    };
    operations.push(operation);
    const fault = decide(operation);
    if (fault === 'request lost') request.socket.destroy();
    else if (fault === 'failing') response.writeHead(500).end(refusal('InternalServerError'));
    else if (fault === 'throttled') response.writeHead(400).end(refusal('ProvisionedThroughputExceededException'));
    else if (fault === 'refusing') response.writeHead(400).end(refusal('ExpiredTokenException'));
    // An idle connection to the store may be closed just as it is reused. The client then retries.
    else await passOn(request, response, body, fault).catch(() => request.socket.destroy());
  });

  async function passOn(request: IncomingMessage, response: ServerResponse, body: Buffer, fault?: StoreFault) {
    const { host: _, connection: __, ...headers } = request.headers;
    const outgoing = forward(target, { method: 'POST', agent, headers }).end(body);
    const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
    const answered = await buffer(answer);
    if (fault === 'late') await turnEventLoop(200);
    else if (fault instanceof Promise) await fault;
    if (fault === 'answer lost') request.socket.destroy();
    else if (fault !== 'silent') response.writeHead(answer.statusCode ?? 500, answer.headers).end(answered);
  }

  const { url, close } = await listenLocally(server);
  return {
    endpoint: url,
    operations: operations as readonly StoreOperation[],
    /** Chooses the fault of each operation from now on. By default there are none. */
    spoil: (given: typeof decide) => {
      decide = given;
    },
    async [Symbol.asyncDispose]() {
      agent.destroy();
      await close();
    },
  };
}
