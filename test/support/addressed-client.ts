import { createHmac } from 'node:crypto';
import { Agent, request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';

interface Sending {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body?: string | undefined;
  /** The address that the client connects from: any in 127.0.0.0/8, on Linux. */
  readonly from: string;
}

/** The response that a client got; undefined if it disconnected before the end. */
interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

interface Client {
  /** Sends a request. `watch` gets a function that makes the client disconnect early. */
  send(sending: Sending, watch?: (leave: () => void, onText: OnText) => void): Promise<Answer | undefined>;
  close(): void;
}

/** Calls back once the response matches. */
type OnText = (pattern: RegExp, call: () => void) => void;

/** HTTP clients on many addresses, with keep-alive. */
export function createClient(url: string): Client {
  const agent = new Agent({ keepAlive: true, maxFreeSockets: 16 });
  const client: Client = {
    send: ({ method, path, headers, body, from }, watch) =>
      new Promise((resolve, reject) => {
        let left = false;
        const watched: { pattern: RegExp; call: () => void }[] = [];
        const fail = (error: Error) => (left ? resolve(undefined) : reject(error));
        const json = body !== undefined && { 'content-type': 'application/json' };
        const outgoing = httpRequest(
          url + path,
          { method, agent, localAddress: from, headers: { ...headers, ...json } },
          (answer: IncomingMessage) => {
            let text = '';
            answer.setEncoding('utf8').on('data', (piece: string) => {
              text += piece;
              for (const { pattern, call } of watched) if (pattern.test(text)) call();
            });
            answer.on('error', fail);
            answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }));
          },
        );
        outgoing.on('error', (error) => {
          // The server may close an idle connection just as it is reused: https://nodejs.org/api/http.html#requestreusedsocket
          const wasClosed = !left && outgoing.reusedSocket && 'code' in error && error.code === 'ECONNRESET';
          if (wasClosed) resolve(client.send({ method, path, headers, body, from }, watch));
          else fail(error);
        });
        outgoing.end(body);
        const leave = () => {
          left = true;
          outgoing.destroy();
          resolve(undefined);
        };
        watch?.(leave, (pattern, call) => watched.push({ pattern, call }));
      }),
    close: () => agent.destroy(),
  };
  return client;
}

/** What the gateway stores instead of an address, with the salt of the tests. */
export const networkOf = (address: string): string =>
  createHmac('sha256', 'the salt of the tests').update(address).digest('base64url').slice(0, 22);
