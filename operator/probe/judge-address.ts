import { type Finding, fail, ok, untested } from '../examination/row.ts';
import { type AskOnce, askArtifact } from './ask.ts';
import { forgeries } from './forgeries.ts';

/** Whether the artifact sees the same caller's address with each forgery as with none. */
export async function judgeSeenAddress(ask: AskOnce, address: string): Promise<Finding> {
  const lastSeen = async (headers: Parameters<AskOnce>[0]['headers'] = {}) => {
    const { addresses } = await askArtifact<{ addresses: string[] }>(ask, { path: '/request', headers });
    return addresses.at(-1) ?? '';
  };
  const own = await lastSeen();
  if (own === '') return fail('X-Forwarded-For names nobody');
  for (const [what, headers] of Object.entries(forgeries(address))) {
    const seen = await lastSeen(headers);
    if (seen !== own) return fail(`${what}: the last value is ${seen || 'nothing'}, and ${own} without it`);
  }
  return ok(`the last value is ${own}, whatever is forged: check that it is this machine's address`);
}

interface Figures {
  readonly remaining: number;
  readonly limit: number;
}

/** Whether claiming another address makes the gateway count another guest. Takes one request of a guest who has used none. */
export async function judgeCountedAddress(ask: AskOnce, prefix: string, address: string): Promise<Finding> {
  const figures = async (headers: Parameters<AskOnce>[0]['headers'] = {}): Promise<Figures | undefined> => {
    const reply = await ask({ path: '/v1/models', headers: { ...headers, 'x-api-key': 'guest' } });
    if (reply.status !== 200) return undefined;
    const read = (name: string) => Number(reply.headers[`${prefix}${name}`]);
    return { remaining: read('remaining'), limit: read('limit') };
  };
  let own = await figures();
  if (own === undefined) return untested('this gateway admits no guests; dist/probe can tell');
  if (own.remaining === own.limit) {
    // Refused, and charged: nothing goes upstream.
    await ask({ method: 'POST', path: '/v1/chat/completions', headers: asGuest, body: Buffer.from('{}') });
    own = (await figures()) ?? own;
  }
  if (own.remaining === own.limit)
    return untested('refused requests are refunded here; send a request as a guest first');
  for (const [what, headers] of Object.entries(forgeries(address))) {
    const seen = await figures(headers);
    if (seen === undefined) return fail(`${what}: answered differently`);
    if (seen.remaining > own.remaining) return fail(`${what} makes this another caller, with ${seen.remaining} left`);
  }
  return ok(`${own.remaining} of ${own.limit} left, whatever is forged`);
}

const asGuest = { 'x-api-key': 'guest', 'content-type': 'application/json' };
