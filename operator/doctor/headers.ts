import { bearer, list, type ProbeRequest, quote, type Reply } from './probe.ts';
import { type Checked, type Finding, fail, ok, okUnless, untested } from './report.ts';
import type { Run } from './run.ts';

/** Every reply has these headers, unless a proxy strips them. */
export function findMissingHeader({ headers }: Reply, headerPrefix: string): string | undefined {
  for (const name of [`${headerPrefix}remaining`, `${headerPrefix}limit`]) {
    const value = headers.get(name);
    if (!/^\d+$/.test(value ?? '')) return `${name} is ${value ?? 'missing'}`;
  }
  const id = headers.get('x-request-id');
  if (!id) return 'x-request-id is missing';
  if (headers.get('request-id') !== id) return 'request-id is not x-request-id';
  const caching = headers.get('cache-control');
  return caching === 'no-store' ? undefined : `cache-control is ${caching ?? 'missing'}`;
}

export const unknownOrigin = 'https://doctor.example';

const wantedHeaders = ['authorization', 'content-type', 'x-api-key', 'api-key', 'x-stainless-lang'];

const preflightFrom = (origin: string): ProbeRequest => ({
  method: 'OPTIONS',
  path: '/v1/chat/completions',
  headers: {
    origin,
    'access-control-request-method': 'POST',
    'access-control-request-headers': wantedHeaders.join(','),
  },
});

/** Whether a web page can send requests, and read answers and errors. */
export async function* checkCors({
  ask,
  key,
  origin,
  headerPrefix,
}: Pick<Run, 'ask' | 'key' | 'origin' | 'headerPrefix'>): AsyncGenerator<Checked> {
  yield ['preflight', checkPreflight(await ask(preflightFrom(origin)), origin)];
  yield ['answers a page can read', checkExposed(await ask(list({ ...bearer(key), origin })), origin, headerPrefix)];
  yield ['errors a page can read', checkExposed(await ask(list({ origin })), origin, headerPrefix)];
}

function checkPreflight(reply: Reply, origin: string): Finding {
  if (reply.status !== 200 && reply.status !== 204) return fail(`answered ${quote(reply)}`);
  if (!listOf(reply, 'access-control-allow-methods').includes('post')) return fail('POST is not allowed');
  const headers = listOf(reply, 'access-control-allow-headers');
  const missing = wantedHeaders.filter((name) => !headers.includes(name));
  if (missing.length > 0) return fail(`not allowed: ${missing.join(', ')}`);
  return checkOrigin(reply, origin) ?? ok(`${origin} is allowed`);
}

function checkExposed(reply: Reply, origin: string, headerPrefix: string): Finding {
  const exposed = listOf(reply, 'access-control-expose-headers');
  const figures = ['remaining', 'limit', 'reset', 'error'].map((name) => headerPrefix + name);
  const wanted = [...figures, 'x-request-id', 'request-id', 'retry-after', 'x-should-retry'];
  const missing = wanted.filter((name) => !exposed.includes(name));
  return checkOrigin(reply, origin) ?? okUnless(missing.length > 0 ? `not exposed: ${missing.join(', ')}` : undefined);
}

const listOf = ({ headers }: Reply, name: string) => (headers.get(name) ?? '').toLowerCase().split(/\s*,\s*/);

/** With an allow-list of origins, `vary` shows that the gateway checked this one. */
function checkOrigin(reply: Reply, origin: string): Finding | undefined {
  if (reply.headers.has('access-control-allow-credentials')) {
    return fail("access-control-allow-credentials is set: any page could send its visitors' cookies");
  }
  const allowed = reply.headers.get('access-control-allow-origin');
  if (allowed === '*' || allowed === origin) return undefined;
  if (allowed !== null) return fail(`access-control-allow-origin is ${allowed}, which no browser accepts`);
  if (!listOf(reply, 'vary').includes('origin')) {
    return fail('access-control-allow-origin is missing: no page can send requests');
  }
  if (origin !== unknownOrigin) return fail(`${origin} is not allowed`);
  return untested('only listed origins are allowed; name one with --origin');
}
