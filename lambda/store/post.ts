import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { targetAt } from '../http/target.ts';
import { ServiceError } from './service-error.ts';

export interface Answer {
  readonly status: number;
  readonly text: string;
  /** The service's own time when it refused; NaN for a success or if it did not say. */
  readonly date: number;
}

/** Sends a body over a kept connection and reads the whole answer. Rejects if no answer comes, or only a part of one. */
export type Post = (
  headers: Readonly<Record<string, string>>,
  body: string,
  signal: AbortSignal | undefined,
) => Promise<Answer>;

/** In bytes: more than any item or secret can have. */
const answerLimit = 1024 * 1024;

/** On some platforms a process has few descriptors (1,024 on Lambda), and clients and upstreams need most of them. */
const maxSockets = 128;

export function createPost(address: URL): Post {
  const [send, Agent] = address.protocol === 'https:' ? [httpsRequest, HttpsAgent] : [httpRequest, HttpAgent];
  const target = targetAt(address);
  const options = { ...target.options, agent: new Agent({ keepAlive: true, maxSockets }) };

  return (headers, body, signal) =>
    new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const length = String(Buffer.byteLength(body));
      const request = send({ ...options, headers: target.listHeaders({ ...headers, 'content-length': length }) });
      const giveUp = () => request.destroy(signal?.reason);
      signal?.addEventListener('abort', giveUp);
      let answered = false;
      const fail = (cause: Error) => {
        const onKeptConnection = request.reusedSocket && !answered;
        reject(new ServiceError('NoAnswer', cause.message, { cause, onKeptConnection }));
      };
      request.once('response', (response) => {
        answered = true;
        const { statusCode: status = 0 } = response;
        const date = status === 200 ? Number.NaN : Date.parse(String(response.headers.date));
        readText(response, (text) => resolve({ status, text, date }), fail);
      });
      request.on('error', fail);
      request.once('close', () => {
        signal?.removeEventListener('abort', giveUp);
        // An answer that switches protocols ends a request without an error.
        if (!answered) fail(new Error('the connection was closed without an answer'));
      });
      request.end(body);
    });
}

function readText(response: IncomingMessage, resolve: (text: string) => void, reject: (error: Error) => void): void {
  const pieces: Buffer[] = [];
  let size = 0;
  response.on('data', (piece: Buffer) => {
    size += piece.length;
    if (size <= answerLimit) pieces.push(piece);
    else response.destroy(new Error('the answer is too large'));
  });
  response.on('error', reject);
  response.once('end', () => resolve(Buffer.concat(pieces).toString()));
}
