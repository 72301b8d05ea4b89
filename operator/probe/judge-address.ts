import { type Finding, fail, ok, untested } from '../doctor/row.ts';
import { type AskOnce, askArtifact } from './ask.ts';
import { forgeries } from './forgeries.ts';

/** What the platform told the artifact of the caller, with nothing forged and with each forgery. */
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
  return ok(`the last value is ${own}, whatever is forged: see that it is the address of this machine`);
}

interface Figures {
  readonly remaining: number;
  readonly limit: number;
}

/** Whether a gateway counts us as another guest once we claim another address. It takes one request of a guest who has all left. */
export async function judgeCountedAddress(ask: AskOnce, prefix: string, address: string): Promise<Finding> {
  const figures = async (headers: Parameters<AskOnce>[0]['headers'] = {}): Promise<Figures | undefined> => {
    const reply = await ask({ path: '/v1/models', headers: { ...headers, 'x-api-key': 'guest' } });
    if (reply.status !== 200) return undefined;
    const read = (name: string) => Number(reply.headers[`${prefix}${name}`]);
    return { remaining: read('remaining'), limit: read('limit') };
  };
  let own = await figures();
  if (own === undefined) return untested('guests are not let in here; dist/probe tells it');
  if (own.remaining === own.limit) {
    // Refused, and charged: nothing goes upstream.
    await ask({ method: 'POST', path: '/v1/chat/completions', headers: asGuest, body: Buffer.from('{}') });
    own = (await figures()) ?? own;
  }
  if (own.remaining === own.limit) return untested('a refused request is given back here; send one as a guest before');
  for (const [what, headers] of Object.entries(forgeries(address))) {
    const seen = await figures(headers);
    if (seen === undefined) return fail(`${what}: answered otherwise than without it`);
    if (seen.remaining > own.remaining) return fail(`${what} makes another caller of us, with ${seen.remaining} left`);
  }
  return ok(`${own.remaining} of ${own.limit} left, whatever is forged`);
}

const asGuest = { 'x-api-key': 'guest', 'content-type': 'application/json' };
