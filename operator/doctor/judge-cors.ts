import { quote, type Reply } from './probe.ts';
import { type Finding, fail, note, ok } from './row.ts';

/** A page that nobody knows. */
export const origin = 'https://doctor.example';

export const preflightHeaders = {
  origin,
  'access-control-request-method': 'POST',
  'access-control-request-headers': 'authorization,content-type,x-api-key,x-stainless-lang',
};

/** Whether browsers may send requests of any page. */
export function judgePreflight(reply: Reply): Finding {
  if (reply.status !== 200 && reply.status !== 204) return fail(`answered ${quote(reply)}`);
  const allowed = judgeOrigin(reply);
  if (allowed) return allowed;
  const listOf = (name: string) => (reply.headers.get(name) ?? '').toLowerCase().split(/\s*,\s*/);
  if (!listOf('access-control-allow-methods').includes('post')) return fail('POST is not allowed');
  const headers = listOf('access-control-allow-headers');
  const missing = preflightHeaders['access-control-request-headers']
    .split(',')
    .filter((name) => !headers.includes(name));
  return missing.length > 0 ? fail(`not allowed: ${missing.join(', ')}`) : ok('any page may ask');
}

/** Whether a page may read what stands in the headers of an answer. */
export function judgeExposed(reply: Reply, headerPrefix: string): Finding {
  const allowed = judgeOrigin(reply);
  if (allowed) return allowed;
  const exposed = (reply.headers.get('access-control-expose-headers') ?? '').toLowerCase().split(/\s*,\s*/);
  const wanted = [
    `${headerPrefix}remaining`,
    `${headerPrefix}limit`,
    `${headerPrefix}error`,
    'x-request-id',
    'retry-after',
  ];
  const missing = wanted.filter((name) => !exposed.includes(name));
  return missing.length > 0 ? fail(`not exposed: ${missing.join(', ')}`) : ok();
}

function judgeOrigin({ headers }: Reply): Finding | undefined {
  const allowed = headers.get('access-control-allow-origin');
  if (allowed === null) return note('only pages of named origins may');
  if (allowed === '*' || allowed === origin) return undefined;
  return fail(`access-control-allow-origin is ${allowed}, which no browser accepts`);
}
