import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Dialect } from '../dialects/dialect.ts';
import { smallBody } from '../http/bodies.ts';
import { isObject, parseJson } from '../settings/json.ts';
import type { Access, ReadAccess, Upstream } from '../settings/read-upstreams.ts';
import { authorizationFor, urlUnder } from './upstream-request.ts';

/** The result of checking an upstream. Contains none of its hidden names. */
export interface UpstreamFound {
  readonly upstream: string;
  readonly reachable: boolean;
  /** Absent if the upstream is not reachable. */
  readonly key?: 'accepted' | 'refused' | undefined;
  readonly models?: 'known' | 'unknown' | 'not listed' | undefined;
  /** The dialects that it answers in. */
  readonly speaks?: string | undefined;
  /** The error code, if it is not reachable. */
  readonly causeCode?: string | undefined;
  /** What to change, if the upstream differs from the settings. */
  readonly hint?: string | undefined;
}

/** In milliseconds, per request. */
const requestTimeout = 10_000;
const longestList = 4_194_304;

export type CheckUpstreams = typeof checkUpstreams;

/** Asks each upstream once what it can do, and reports it. Nothing waits for it, and it never rejects. */
export async function checkUpstreams(
  upstreams: readonly Upstream[],
  dialects: readonly Dialect[],
  readAccess: ReadAccess,
  tell: (found: UpstreamFound) => void,
): Promise<void> {
  const checks = upstreams.map(async (upstream) => {
    const access = await readAccess(upstream);
    // A missing key has its own startup warning.
    if (access.keys.length > 0) tell(await checkUpstream(upstream, dialects, access));
  });
  await Promise.allSettled(checks);
}

/** Requests `GET …/models`, and posts `{}` to each dialect, which is invalid and so costs nothing. */
async function checkUpstream(upstream: Upstream, dialects: readonly Dialect[], access: Access): Promise<UpstreamFound> {
  const { prefix } = upstream;
  const spoken = dialects.find(({ name }) => upstream.dialects.some((one) => one === name)) ?? dialects[0];
  if (!spoken) return { upstream: prefix, reachable: false };
  const headersFor = (dialect: Dialect) => ({
    'content-type': 'application/json',
    // Ignored by upstreams that don't speak messages.
    'anthropic-version': '2023-06-01',
    ...authorizationFor(upstream, dialect, access.keys[0] ?? ''),
    ...access.headers,
    ...access.secretHeaders,
  });
  const asking = dialects.map(async (dialect) => {
    const [endpoint] = dialect.endpoints;
    const url = endpoint && urlUnder(upstream.addresses[dialect.name], endpoint);
    return [dialect.name, await ask(url ?? '', headersFor(dialect), '{}')] as const;
  });
  const listing = ask(`${upstream.addresses[spoken.name]}/models`, headersFor(spoken));
  const [list, ...replies] = await Promise.all([listing, ...asking]);
  const answers = replies.flatMap(([, { status }]) => status ?? []);
  if (list.status === undefined && answers.length === 0) {
    const hint = `${prefix}_BASE_URL leads nowhere: see docs/failures.md for this code`;
    return { upstream: prefix, reachable: false, causeCode: list.causeCode, hint };
  }
  const isRefused = [list.status, ...answers].some((status) => status === 401 || status === 403);
  const models = isRefused ? undefined : findModels(list, upstream, spoken);
  const answering = replies.filter(([, { status }]) => status !== undefined);
  const speaks = answering.filter(([, reply]) => !isAbsent(reply)).map(([name]) => name);
  const absent = answering.filter(([, reply]) => isAbsent(reply)).map(([name]) => name);
  return {
    upstream: prefix,
    reachable: true,
    key: isRefused ? 'refused' : [list, ...replies.map(([, reply]) => reply)].some(showsKey) ? 'accepted' : undefined,
    models,
    speaks: speaks.join(',') || 'none',
    hint: isRefused
      ? `the upstream refuses the key: replace the first of ${prefix}_API_KEYS`
      : (hintOfDialects(upstream, speaks, absent) ??
        (models === 'unknown'
          ? `the upstream lists no model of ${prefix}_TEXT_MODEL or ${prefix}_VISION_MODEL`
          : undefined)),
  };
}

/** Whether the path does not exist. A 404 may also be about the model, which the request does not name. */
const isAbsent = ({ status, text = '' }: Reply): boolean => status === 405 || (status === 404 && !/model/i.test(text));

/** Whether an answer other than a 401 or 403 shows that the key is valid. A 5xx or an unknown path may come before the key is read. */
const showsKey = (reply: Reply): boolean => reply.status !== undefined && reply.status < 500 && !isAbsent(reply);

function hintOfDialects({ prefix, dialects }: Upstream, speaks: readonly string[], absent: readonly string[]) {
  if (!dialects.some((name) => absent.includes(name))) return undefined;
  if (speaks.length === 0) return `no dialect is at ${prefix}_BASE_URL: it may lack its version prefix, such as /v1`;
  const missing = dialects.filter((name) => absent.includes(name)).join(' and ');
  return `the upstream does not speak ${missing}: set ${prefix}_DIALECTS=${speaks.join(',')}, and they are translated`;
}

interface Reply {
  /** Undefined if there was no response. */
  readonly status?: number;
  readonly text?: string;
  readonly causeCode?: string;
}

function findModels({ status, text = '' }: Reply, { models }: Upstream, { name }: Dialect): UpstreamFound['models'] {
  const parsed = status === 200 ? parseJson(text) : undefined;
  const data = isObject(parsed) && Array.isArray(parsed.data) ? parsed.data : undefined;
  if (!data) return 'not listed';
  const listed = new Set(data.map((one) => (isObject(one) ? one.id : undefined)));
  const { text: forText, vision } = models[name];
  return listed.has(forText) && listed.has(vision) ? 'known' : 'unknown';
}

/** Sends one request on a new connection. */
function ask(url: string, headers: Readonly<Record<string, string>>, body?: string): Promise<Reply> {
  const { promise, resolve } = Promise.withResolvers<Reply>();
  const send = url.startsWith('https:') ? httpsRequest : httpRequest;
  const method = body === undefined ? 'GET' : 'POST';
  const signal = AbortSignal.timeout(requestTimeout);
  const request = send(url, { method, headers: { ...headers, 'accept-encoding': 'identity' }, agent: false, signal });
  request.once('response', (answer) => {
    const status = answer.statusCode ?? 0;
    readText(answer, body === undefined ? longestList : smallBody).then(
      (text) => resolve({ status, text }),
      () => resolve({ status }),
    );
  });
  request.on('error', ({ name, code = name }: NodeJS.ErrnoException) => resolve({ causeCode: code }));
  // A protocol upgrade emits neither a response nor an error.
  request.once('upgrade', (_, socket) => {
    socket.destroy();
    resolve({ causeCode: 'UPGRADE' });
  });
  request.end(body);
  return promise;
}

/** Reads the body, and stops after about `longest` bytes. */
async function readText(answer: IncomingMessage, longest: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of answer) {
    size += chunk.length;
    if (size > longest) break;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
