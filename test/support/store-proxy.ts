import { once } from 'node:events';
import { Agent, createServer, request as forward, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { listenLocally } from '../../local/listen-locally.ts';
import { turnEventLoop } from './wait-until.ts';

/** What the proxy does to an operation. */
export type StoreFault =
  | 'request lost' // the store never hears of it
  | 'answer lost' // the store has done it, and nobody hears of that
  | 'failing' // 500
  | 'throttled'
  | 'refusing' // the session token has expired
  | 'late' // by many turns of the event loop
  | 'silent' // done by the store, and no answer for as long as anyone waits
  | Promise<unknown>; // done by the store, and answered once the test says so

export interface StoreOperation {
  /** `UpdateItem`, `GetItem` … */
  readonly name: string;
  /** The number of this try, from 1, as the caller reports it. */
  readonly attempt: number;
  readonly body: string;
}

/** Decides what happens to an operation. */
export type SpoilStore = (operation: StoreOperation) => StoreFault | undefined;

/** A proxy between the gateway and an emulated DynamoDB that causes faults. */
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
    // A connection to the store that had rested may be closed just when it is used again: the sender repeats itself.
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
    /** Decides what happens to each operation. Until it is set, all pass. */
    spoil: (given: typeof decide) => {
      decide = given;
    },
    async [Symbol.asyncDispose]() {
      agent.destroy();
      await close();
    },
  };
}
