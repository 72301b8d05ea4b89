import type { z } from 'zod';
import { parseJson } from '../../lambda/settings/read.ts';
import { membersIn, type ProbeRequest, quote, type Reply, readBody } from './probe.ts';
import { type Finding, fail, note, ok, okUnless, untested } from './report.ts';

export function checkShape(reply: Reply, shape: z.ZodType): Finding {
  const fault = reply.status === 200 ? faultInBody(reply, shape) : `answered ${quote(reply)}`;
  return okUnless(fault, `${Math.round(reply.duration)} ms`);
}

/** Whether a model calls a tool, without which agents can do nothing. */
export function checkCall(reply: Reply, answer: z.ZodType, call: z.ZodType): Finding {
  const finding = checkShape(reply, answer);
  if (finding.mark !== 'ok' || call.safeParse(parseJson(reply.text)).success) return finding;
  return note(
    'the model did not call the tool that it was given, as agents need it to: ' +
      "look up the upstream in docs/upstreams.md (many servers need a parser for their model's calls), or choose another model",
  );
}

export function faultInBody(reply: Reply, shape: z.ZodType): string | undefined {
  const type = reply.headers.get('content-type') ?? 'missing';
  if (!/^application\/json(;|$)/.test(type)) return `content-type is ${type}`;
  const value = parseJson(reply.text);
  if (value === undefined) return `no JSON: ${quote(reply)}`;
  const { error } = shape.safeParse(value);
  const [issue] = error?.issues ?? [];
  if (!issue) return undefined;
  return `${issue.path.join('.') || 'the body'}: ${issue.message}`;
}

/** In all dialects. Tokens from a cache may be counted apart. */
const inputNames = ['prompt_tokens', 'input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'];
const outputNames = ['completion_tokens', 'output_tokens'];

/** Whether an answer reports its tokens, which not every upstream does. */
export function checkUsage(plain: Reply): Finding {
  const { values } = readBody(plain);
  return (
    checkTokens(values, values) ?? untested('the answer has no usage; check whether the upstream itself reports any')
  );
}

/** Whether a stream reports its tokens at its end. If the plain answer does, they were lost on the way. */
export function checkStreamUsage(stream: Reply, plain: Reply): Finding {
  const { values } = readBody(stream);
  // The start of a messages stream has a usage as well, which counts next to nothing.
  const finding = checkTokens(values, values.slice(-4));
  if (finding !== undefined) return finding;
  return highest(readBody(plain).values, outputNames) === undefined
    ? untested('neither the stream nor the plain answer has usage; check whether the upstream itself reports any')
    : fail('it has none, unlike the plain answer');
}

/** A question and its answer have some tokens each: a 0 would make them free in the operator's figures. */
function checkTokens(all: readonly unknown[], last: readonly unknown[]): Finding | undefined {
  const output = highest(last, outputNames);
  if (output === undefined) return undefined;
  if (output === 0) return fail('it reports 0 output tokens');
  return highest(all, inputNames) === 0 ? fail('it reports 0 input tokens') : ok();
}

/** The highest figure of these names in the usages anywhere within values; undefined if there is none. */
function highest(values: readonly unknown[], names: readonly string[]): number | undefined {
  const usages = values.flatMap((value) => membersIn(value)).filter(({ name }) => name === 'usage');
  const figures = usages.flatMap(({ value }) => names.map((name) => Object(value)[name]));
  const counts: number[] = figures.filter((figure) => typeof figure === 'number');
  return counts.length > 0 ? Math.max(...counts) : undefined;
}

export function findMissingHeader({ headers }: Reply, headerPrefix: string): string | undefined {
  for (const name of [`${headerPrefix}remaining`, `${headerPrefix}limit`]) {
    const value = headers.get(name);
    if (!/^\d+$/.test(value ?? '')) return `${name} is ${value ?? 'missing'}`;
  }
  const id = headers.get('x-request-id');
  if (!id) return 'x-request-id is missing';
  if (headers.get('request-id') !== id) return 'request-id is not x-request-id';
  const caching = headers.get('cache-control');
  if (caching !== 'no-store') return `cache-control is ${caching ?? 'missing'}`;
  // If only listed origins may read, an answer without an origin says at least that it matters.
  const forPages = headers.has('access-control-allow-origin') || /\borigin\b/i.test(headers.get('vary') ?? '');
  return forPages ? undefined : 'access-control-allow-origin is missing';
}

/** Whether each request has an id of its own: a shared one would find neither in the log. */
export function checkRequestIds(replies: readonly Reply[]): Finding {
  const seen = new Map<string, string>();
  for (const { headers, title } of replies) {
    const id = headers.get('x-request-id');
    if (id === null) continue;
    const other = seen.get(id);
    if (other !== undefined) return fail(`${other} and ${title} share ${id}`);
    seen.set(id, title);
  }
  return seen.size > 1 ? ok(`${seen.size} ids`) : fail('no reply has one');
}

export const unknownOrigin = 'https://doctor.example';

const wantedHeaders = ['authorization', 'content-type', 'x-api-key', 'api-key', 'x-stainless-lang'];

export const preflightOf = (origin: string): ProbeRequest => ({
  method: 'OPTIONS',
  path: '/v1/chat/completions',
  headers: {
    origin,
    'access-control-request-method': 'POST',
    'access-control-request-headers': wantedHeaders.join(','),
  },
});

export function checkPreflight(reply: Reply, origin: string): Finding {
  if (reply.status !== 200 && reply.status !== 204) return fail(`answered ${quote(reply)}`);
  if (!listOf(reply, 'access-control-allow-methods').includes('post')) return fail('POST is not allowed');
  const headers = listOf(reply, 'access-control-allow-headers');
  const missing = wantedHeaders.filter((name) => !headers.includes(name));
  if (missing.length > 0) return fail(`not allowed: ${missing.join(', ')}`);
  return checkOrigin(reply, origin) ?? ok(`${origin} is allowed`);
}

export function checkExposed(reply: Reply, origin: string, headerPrefix: string): Finding {
  const refused = checkOrigin(reply, origin);
  if (refused) return refused;
  const exposed = listOf(reply, 'access-control-expose-headers');
  const figures = ['remaining', 'limit', 'reset', 'error'].map((name) => headerPrefix + name);
  const wanted = [...figures, 'x-request-id', 'request-id', 'retry-after', 'x-should-retry'];
  const missing = wanted.filter((name) => !exposed.includes(name));
  return okUnless(missing.length > 0 ? `not exposed: ${missing.join(', ')}` : undefined);
}

const listOf = ({ headers }: Reply, name: string) => (headers.get(name) ?? '').toLowerCase().split(/\s*,\s*/);

/** A gateway that answers only listed origins shows by `vary` that it looked at this one. */
function checkOrigin(reply: Reply, origin: string): Finding | undefined {
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
