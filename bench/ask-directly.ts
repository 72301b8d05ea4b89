import { once } from 'node:events';
import { type Agent, type IncomingMessage, request } from 'node:http';
import { type Reading, readAnswer } from './session.ts';

/** Sends a chat straight to the upstream. */
export async function askDirectly(agent: Agent, upstreamUrl: string, body: string): Promise<Reading> {
  const askedAt = performance.now();
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  const outgoing = request(`${upstreamUrl}/chat/completions`, { method: 'POST', headers, agent }).end(body);
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
  return { askedAt, headAt: performance.now(), ...(await readAnswer(answer)) };
}
