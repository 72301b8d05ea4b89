import { type Finding, fail, note, ok } from '../examination/row.ts';
import type { AskOnce, Reply } from './ask.ts';

const mebibyte = 1_048_576;
const sizes = [1, 4, 6, 8, 16, 32];
/** The default of REQUEST_BODY_LIMIT, in MiB. A platform's limit above it does not matter. */
const promised = 6;

/** Finds the first size that does not reach the artifact whole. */
export async function judgeReceivedBodies(ask: AskOnce): Promise<Finding> {
  for (const size of sizes) {
    const body = Buffer.alloc(size * mebibyte, 'x');
    const reply = await attempt(() => ask({ method: 'POST', path: '/body', body }));
    const arrived = typeof reply !== 'string' && reply.status === 200 && JSON.parse(reply.text).bytes === body.length;
    if (arrived) continue;
    const what = `a body of ${size} MiB: ${describe(reply)}`;
    return size <= promised ? fail(what) : note(what);
  }
  return ok(`up to ${sizes.at(-1)} MiB`);
}

/** Whether the gateway itself answers each size: without a key, with 401, or with 413 above its limit. */
export async function judgeAnsweredBodies(ask: AskOnce, prefix: string): Promise<Finding> {
  for (const size of sizes) {
    const body = Buffer.alloc(size * mebibyte, ' ');
    const headers = { 'content-type': 'application/json' };
    const reply = await attempt(() => ask({ method: 'POST', path: '/v1/chat/completions', headers, body }));
    if (typeof reply === 'string' || reply.headers[`${prefix}error`] === undefined) {
      const what = `a body of ${size} MiB is not answered by the gateway: ${describe(reply)}`;
      return size <= promised ? fail(what) : note(what);
    }
    if (reply.status === 413) {
      const what = `the gateway refuses ${size} MiB`;
      return size <= promised
        ? note(`${what}: REQUEST_BODY_LIMIT is below`)
        : ok(`${what}, and nothing does so before it`);
    }
  }
  return ok(`up to ${sizes.at(-1)} MiB`);
}

async function attempt(send: () => Promise<Reply>): Promise<Reply | string> {
  try {
    return await send();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function describe(reply: Reply | string): string {
  if (typeof reply === 'string') return reply;
  return `${reply.status} ${reply.text.slice(0, 100).replace(/\s+/g, ' ')}`.trim();
}
