import { type Finding, fail, ok, untested } from '../examination/row.ts';
import { quote, type Reply } from './probe.ts';

/** An unknown page. */
export const unknownOrigin = 'https://doctor.example';

export const preflightHeaders = (origin: string) => ({
  origin,
  'access-control-request-method': 'POST',
  'access-control-request-headers': wantedHeaders.join(','),
});
const wantedHeaders = ['authorization', 'content-type', 'x-api-key', 'api-key', 'x-stainless-lang'];

/** Whether browsers may send a page's requests. */
export function judgePreflight(reply: Reply, origin: string): Finding {
  if (reply.status !== 200 && reply.status !== 204) return fail(`answered ${quote(reply)}`);
  if (!listOf(reply, 'access-control-allow-methods').includes('post')) return fail('POST is not allowed');
  const headers = listOf(reply, 'access-control-allow-headers');
  const missing = wantedHeaders.filter((name) => !headers.includes(name));
  if (missing.length > 0) return fail(`not allowed: ${missing.join(', ')}`);
  return judgeOrigin(reply, origin) ?? ok(`${origin} is allowed`);
}

/** Whether a page may read the headers of an answer. */
export function judgeExposed(reply: Reply, headerPrefix: string, origin: string): Finding {
  const allowed = judgeOrigin(reply, origin);
  if (allowed) return allowed;
  const exposed = listOf(reply, 'access-control-expose-headers');
  const figures = ['remaining', 'limit', 'reset', 'error'].map((name) => headerPrefix + name);
  const wanted = [...figures, 'x-request-id', 'request-id', 'retry-after', 'x-should-retry'];
  const missing = wanted.filter((name) => !exposed.includes(name));
  return missing.length > 0 ? fail(`not exposed: ${missing.join(', ')}`) : ok();
}

const listOf = ({ headers }: Reply, name: string) => (headers.get(name) ?? '').toLowerCase().split(/\s*,\s*/);

/** A gateway that answers only listed origins shows by `vary` that it looked at this one. */
function judgeOrigin(reply: Reply, origin: string): Finding | undefined {
  if (reply.headers.has('access-control-allow-credentials')) {
    return fail("access-control-allow-credentials is set: any page could send its visitors' cookies");
  }
  const allowed = reply.headers.get('access-control-allow-origin');
  if (allowed === '*' || allowed === origin) return undefined;
  if (allowed !== null) return fail(`access-control-allow-origin is ${allowed}, which no browser accepts`);
  if (!listOf(reply, 'vary').includes('origin'))
    return fail('access-control-allow-origin is missing: no page can send requests');
  if (origin !== unknownOrigin) return fail(`${origin} is not allowed`);
  return untested('only listed origins are allowed; name one with --origin');
}
