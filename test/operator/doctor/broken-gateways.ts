import type { IncomingHttpHeaders } from 'node:http';
import type { Asked, Meddling } from '../../support/meddling-proxy.ts';

/** A gateway with one fault, and what the doctor says of it in which rows. */
export type BrokenGateway = readonly [
  fault: string,
  meddling: Meddling,
  says: Readonly<Record<string, RegExp>>,
  /** It keeps other faults from being seen. */
  isAlone?: true,
];

const any = /./;
const inEachDialect = (check: string, says: RegExp) =>
  Object.fromEntries(['chat', 'responses', 'messages'].map((dialect) => [`${dialect}: ${check}`, says]));

const streams = ({ body }: Asked) => body.includes('"stream":true');
const isCharged = ({ method, path }: Asked) => method === 'POST' && !path.includes('count_tokens');
const hasKey = ({ headers }: Asked) =>
  /ltk_/.test(`${headers['x-api-key']} ${headers['api-key']} ${headers.authorization}`);

const without = (headers: IncomingHttpHeaders, names: readonly string[]) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name)));

type Where = (asked: Asked, status: number) => boolean;
const anywhere: Where = () => true;

/** Changes headers of answers, removes some, or replaces a text in bodies. */
const set = (changed: Readonly<Record<string, string>>, where = anywhere): Meddling => ({
  headers: (headers, asked, status) => ({ ...headers, ...(where(asked, status) && changed) }),
});
const remove = (names: readonly string[], where = anywhere): Meddling => ({
  headers: (headers, asked, status) => (where(asked, status) ? without(headers, names) : headers),
});
const replace = (from: string | RegExp, to: string, where: (asked: Asked) => boolean = () => true): Meddling => ({
  text: (text: string, asked: Asked) => (where(asked) ? text.replaceAll(from, to) : text),
});
const at = (path: string) => (asked: Asked) => asked.path === path;
const onStatus =
  (wanted: number): Where =>
  (_asked, status) =>
    status === wanted;
const cors = ['allow-origin', 'allow-methods', 'allow-headers', 'expose-headers', 'max-age'];

/** Changes the body of requests, or takes a header from them. */
const asking = (from: string | RegExp, to: string): Meddling => ({
  asks: (asked) => ({ ...asked, body: asked.body.replace(from, to) }),
});
const askingWithout = (name: string, where: (asked: Asked) => boolean = () => true): Meddling => ({
  asks: (asked) => (where(asked) ? { ...asked, headers: without(asked.headers, [name]) } : asked),
});

/** Makes an additional charge: to the key of the request, or to the guest. */
function charging(where: (asked: Asked) => boolean, key?: string): Meddling {
  const body = JSON.stringify({ model: 'svc', messages: [{ role: 'user', content: 'More?' }] });
  const alsoAsks = (asked: Asked): Asked | undefined => {
    if (!where(asked) || (key === undefined && !hasKey(asked))) return undefined;
    const own = key === undefined ? without(asked.headers, ['origin', 'content-encoding']) : { 'x-api-key': key };
    const headers = { ...own, 'content-type': 'application/json' };
    return { method: 'POST', path: '/v1/chat/completions', headers, body };
  };
  return { alsoAsks };
}

const noOutput = /^it reports 0 output tokens$/;

export const brokenGateways: readonly BrokenGateway[] = [
  // Streams
  [
    'drops the last event of responses',
    replace(/event: response\.completed\n.*\n\n/g, ''),
    {
      'responses: streams to the end': /^it breaks off: its last event is response\.output_item\.done/,
      'responses: reports usage in streams': any,
    },
  ],
  [
    'counts no tokens of any answer',
    replace(/"(completion|prompt|input|output)_tokens":\d+/g, '"$1_tokens":0', isCharged),
    { ...inEachDialect('reports usage', noOutput), ...inEachDialect('reports usage in streams', noOutput) },
  ],

  // Answers
  [
    'gives answers the wrong type',
    set({ 'content-type': 'text/html' }, (asked) => at('/v1/responses')(asked) && !streams(asked) && hasKey(asked)),
    {
      'responses: answers': /^content-type is text\/html$/,
      'responses: calls a tool': any,
      'errors: an unknown key': any,
      'errors: a wrong method': any,
      'errors: a quota that is spent': any,
    },
  ],
  [
    'hangs up',
    { drops: ({ path }) => path === '/v1/messages' },
    { 'messages: can be asked': /^POST \/v1\/messages failed: /, 'errors: can be asked': any },
    true,
  ],
  ['does not know an alias', asking('"svc-text"', '"svc-other"'), { 'chat: answers': /^answered 400 .*invalid_model/ }],
  [
    'lists models with a field too many',
    replace('"data":[', '"first_id":"svc","data":[', at('/v1/models')),
    { 'models: the list': /^the body: Unrecognized key: "first_id"$/ },
  ],
  [
    'describes a model wrongly',
    replace('"created":0', '"created":1790000000', at('/v1/models/svc-vision')),
    { 'models: svc-vision': /^created: / },
  ],
  [
    'counts no tokens',
    replace('"input_tokens"', '"tokens"', ({ path }) => path.includes('count_tokens')),
    { 'messages: counts tokens': /^input_tokens: / },
  ],

  // Errors
  [
    'takes an unknown key for a guest',
    {
      asks: (asked) => ({
        ...asked,
        headers: JSON.parse(JSON.stringify(asked.headers).replaceAll(`ltk_${'x'.repeat(43)}`, 'guest')),
      }),
    },
    { 'keys: which header counts': /^expected 401 invalid_api_key, not 200 /, 'errors: an unknown key': any },
  ],
  [
    'prefers Authorization',
    askingWithout('x-api-key', ({ headers }) => headers.authorization !== undefined),
    { 'keys: which header counts': /^a good x-api-key is answered 401 / },
  ],
  [
    'does not know a path with a query',
    { asks: (asked) => ({ ...asked, path: asked.path.replace('?', '%3F') }) },
    {
      'errors: an unknown model': /^POST \/v1\/messages\/count_tokens\?beta=true: expected 400 invalid_model, not 404 /,
    },
  ],
  [
    'takes no body over 1 MiB',
    {
      asks: (asked) => (asked.body.length > 2 ** 20 ? { ...asked, path: '/none' } : asked),
      status: (status, { path }) => (path === '/none' ? 413 : status),
    },
    { 'errors: a large body': /expected 400 invalid_model, not 413 / },
  ],
  [
    'has no Allow on a 405',
    remove(['allow'], onStatus(405)),
    { 'errors: a wrong method': /^GET \/v1\/chat\/completions: allow is missing$/ },
  ],
  [
    'has no x-should-retry on a 401',
    remove(['x-should-retry'], onStatus(401)),
    { 'errors: no key': /: x-should-retry is missing$/, 'errors: an unknown key': any },
  ],
  [
    'has the wrong shape of errors',
    replace('"code":"not_found"', '"code":"not_found","param":null'),
    { 'errors: an unknown path': /^GET \/v1\/none: error: Unrecognized key: "param"$/ },
  ],
  [
    'lets a picture through to the text model',
    asking(/"model":"svc"(?=.*"type":"image")/, '"model":"svc-vision"'),
    { 'errors: a picture for the text model': /expected 400 invalid_model, not 200/ },
  ],
  [
    'has no Retry-After on a 429',
    remove(['retry-after'], onStatus(429)),
    { 'errors: a quota that is spent': /: retry-after is missing$/, 'errors: too many in a minute': any },
  ],

  // CORS
  [
    'has no x-should-retry on a spent quota',
    remove(['x-should-retry'], onStatus(429)),
    { 'errors: a quota that is spent': /: x-should-retry is missing$/ },
  ],
  [
    'has no CORS headers',
    remove(cors.map((name) => `access-control-${name}`)),
    {
      'cors: preflight': /^POST is not allowed$/,
      'cors: headers a page can read': any,
      'cors: errors a page can read': any,
      'headers: those of every answer': any,
    },
  ],

  // Quota
  [
    'charges streams twice',
    { alsoAsks: (asked) => (streams(asked) && hasKey(asked) ? asked : undefined) },
    {
      'quota: each answer is charged once':
        /^15 charged for 11 answers, .*: POST \/v1\/chat\/completions \(stream\) is charged more than once$/,
    },
    true,
  ],
  [
    'charges for counting tokens',
    charging(({ path, headers }) => path.includes('count_tokens') && headers.authorization !== undefined),
    { 'quota: nothing else for a key': /^POST \/v1\/messages\/count_tokens is charged$/ },
  ],
  [
    'charges preflights to the guest',
    charging(({ method }) => method === 'OPTIONS', 'guest'),
    { 'quota: nothing else for a guest': /^OPTIONS \/v1\/chat\/completions is charged$/ },
  ],
  [
    'charges the guest for requests with keys',
    charging((asked) => isCharged(asked) && hasKey(asked), 'guest'),
    { 'quota: a guest is counted apart': /^the network's guest was charged \d+ meanwhile$/ },
  ],
  [
    'does not refund a body that is too large',
    charging(({ headers }) => headers['content-encoding'] === 'gzip'),
    { 'quota: failures are refunded': /^POST \/v1\/chat\/completions answered 413, and was charged$/ },
    true,
  ],
  [
    'does not decompress bodies',
    askingWithout('content-encoding'),
    {
      'errors: a body that grows too large': /expected 413 request_too_large, not 400 /,
      'errors: an unknown encoding': any,
    },
  ],
  [
    'answers a WebSocket handshake like any wrong method',
    askingWithout('openai-beta'),
    { 'errors: a WebSocket handshake': /expected 426 upgrade_required, not 405 / },
  ],
  [
    'counts streams late in its headers',
    {
      headers: (headers, asked) =>
        streams(asked) ? { ...headers, 'x-svc-remaining': `${Number(headers['x-svc-remaining']) + 1}` } : headers,
    },
    {
      'quota: headers agree':
        /^POST \/v1\/chat\/completions \(stream\) says that 49 are left: 49 were before it, 48 after$/,
    },
    true,
  ],
  [
    'shows everybody the same limit',
    set({ 'x-svc-limit': '9999' }),
    { 'quota: the limit of the key': /^it is 9999, and a guest's too/ },
  ],

  // Headers
  [
    'gives one request id twice',
    set({ 'x-request-id': 'req_1', 'request-id': 'req_1' }, at('/v1/none')),
    { 'headers: an id for each request': /^GET \/v1\/none and GET \/v1\/none share req_1$/ },
  ],

  // Hiding
  [
    'shows a header of its upstream',
    set({ 'x-ratelimit-remaining-tokens': '5' }, streams),
    { 'hiding: no foreign header': /^POST \/v1\/chat\/completions \(stream\): x-ratelimit-remaining-tokens: / },
  ],
  [
    'shows a field of the upstream in chunks',
    replace('"object":"chat.completion.chunk"', '"provider":"x","object":"chat.completion.chunk"'),
    { 'hiding: no trace in bodies': /^POST \/v1\/chat\/completions \(stream\): provider is there$/ },
  ],
];
