import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { LambdaFunctionURLEvent } from 'aws-lambda';

const agent = new Agent({ keepAlive: true });
const upstream = String(process.env.UPSTREAM_BASE_URL);

/** Sends the event's body to the upstream and pipes the response back. No gateway can do less. */
export async function pipe({ rawPath, body = '' }: LambdaFunctionURLEvent, stream: Writable): Promise<void> {
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  const outgoing = request(upstream + rawPath.slice('/v1'.length), { method: 'POST', headers, agent }).end(body);
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
  const head = { statusCode: answer.statusCode, headers: { 'content-type': answer.headers['content-type'] } };
  await pipeline(answer, awslambda.HttpResponseStream.from(stream, head));
}

/** The lower bound: a handler that only pipes. */
export const handler = awslambda.streamifyResponse(pipe);
