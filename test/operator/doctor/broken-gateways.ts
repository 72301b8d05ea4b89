import type { IncomingHttpHeaders } from 'node:http';
import type { Asked, Meddling } from '../../support/meddling-proxy.ts';

/** A gateway with one fault, and the rows of the doctor that must report it. */
export interface BrokenGateway {
  readonly fault: string;
  /** It keeps other faults from being seen. */
  readonly alone?: true;
  readonly meddling: Meddling;
  readonly rows: readonly string[];
  /** The text of the first of them. */
  readonly says: RegExp;
}

const dialects = ['chat', 'responses', 'messages'];
const inEachDialect = (check: string) => dialects.map((dialect) => `${dialect}: ${check}`);

const streams = ({ body }: Asked) => body.includes('"stream":true');
const isCharged = ({ method, path }: Asked) => method === 'POST' && !path.includes('count_tokens');
const hasKey = ({ headers }: Asked) =>
  /ltk_/.test(`${headers['x-api-key']} ${headers['api-key']} ${headers.authorization}`);

/** Changes headers if the condition holds; an undefined value removes its header. */
const set = (changed: Readonly<Record<string, string | undefined>>, where: (asked: Asked) => boolean = () => true) => ({
  headers: (headers: IncomingHttpHeaders, asked: Asked) => {
    const all = { ...headers, ...(where(asked) && changed) };
    return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  },
});
const replace = (from: string | RegExp, to: string, where: (asked: Asked) => boolean = () => true) => ({
  text: (text: string, asked: Asked) => (where(asked) ? text.replaceAll(from, to) : text),
});
const at = (path: string) => (asked: Asked) => asked.path === path;
/** Only for errors with this status. */
const onStatus = (wanted: number, changed: Readonly<Record<string, string | undefined>>): Meddling => ({
  headers: (headers, asked, status) => (status === wanted ? set(changed).headers(headers, asked) : headers),
});
const withoutCors = Object.fromEntries(
  ['allow-origin', 'allow-methods', 'allow-headers', 'expose-headers', 'max-age'].map((name) => [
    `access-control-${name}`,
    undefined,
  ]),
);

/** Makes an additional charge: to the key of the request, or to the guest. */
function charging(where: (asked: Asked) => boolean, key?: string): Meddling {
  const body = JSON.stringify({ model: 'svc', messages: [{ role: 'user', content: 'More?' }] });
  return {
    alsoAsks: (asked) => {
      if (!where(asked) || (key === undefined && !hasKey(asked))) return undefined;
      const { origin: _, 'content-encoding': __, ...headers } = asked.headers;
      const caller = key === undefined ? headers : { authorization: `Bearer ${key}` };
      return {
        method: 'POST',
        path: '/v1/chat/completions',
        headers: { ...caller, 'content-type': 'application/json' },
        body,
      };
    },
  };
}

const hiding = {
  headers: 'hiding: no foreign header',
  bodies: 'hiding: no trace in bodies',
  names: 'hiding: no name anywhere',
};
export const brokenGateways: readonly BrokenGateway[] = [
  // Streams
  {
    fault: 'drops [DONE]',
    meddling: replace('data: [DONE]\n\n', ''),
    rows: ['chat: streams to the end'],
    says: /^it breaks off: its last event is/,
  },
  {
    fault: 'drops the last event of responses',
    meddling: replace(/event: response\.completed\n.*\n\n/g, ''),
    rows: ['responses: streams to the end', 'responses: reports usage in streams'],
    says: /^it breaks off: its last event is response\.output_item\.done/,
  },
  {
    fault: 'gives streams the wrong type',
    meddling: set({ 'content-type': 'text/plain' }, (asked) => at('/v1/messages')(asked) && streams(asked)),
    rows: ['messages: streams to the end', 'messages: reports usage in streams'],
    says: /^content-type is text\/plain$/,
  },
  {
    fault: 'counts no tokens of any answer',
    meddling: replace(/"(completion|prompt|input|output)_tokens":\d+/g, '"$1_tokens":0', isCharged),
    rows: ['reports usage', 'reports usage in streams'].flatMap(inEachDialect),
    says: /^it reports 0 output tokens$/,
  },

  // Answers
  {
    fault: 'gives answers the wrong type',
    meddling: set(
      { 'content-type': 'text/html' },
      (asked) => at('/v1/responses')(asked) && !streams(asked) && hasKey(asked),
    ),
    rows: [
      'responses: answers',
      'responses: calls a tool',
      'errors: an unknown key',
      'errors: a wrong method',
      'errors: a quota that is spent',
    ],
    says: /^content-type is text\/html$/,
  },
  {
    fault: 'hangs up',
    alone: true,
    meddling: { drops: ({ path }) => path === '/v1/messages' },
    rows: ['messages: can be asked', 'errors: can be asked', 'errors: can be asked'],
    says: /^POST \/v1\/messages failed: /,
  },
  {
    fault: 'does not know an alias',
    meddling: { asks: (asked) => ({ ...asked, body: asked.body.replace('"svc-text"', '"svc-other"') }) },
    rows: ['chat: answers'],
    says: /^answered 400 .*invalid_model/,
  },
  {
    fault: 'lists models with a field too many',
    meddling: replace('"data":[', '"first_id":"svc","data":[', at('/v1/models')),
    rows: ['models: the list'],
    says: /^the body: Unrecognized key: "first_id"$/,
  },
  {
    fault: 'describes a model wrongly',
    meddling: replace('"created":0', '"created":1790000000', at('/v1/models/svc-vision')),
    rows: ['models: svc-vision'],
    says: /^created: /,
  },
  {
    fault: 'counts no tokens',
    meddling: replace('"input_tokens"', '"tokens"', ({ path }) => path.includes('count_tokens')),
    rows: ['messages: counts tokens'],
    says: /^input_tokens: /,
  },

  // Errors
  {
    fault: 'has the wrong status for a missing key',
    meddling: { status: (status, asked) => (status === 401 && !hasKey(asked) ? 403 : status) },
    rows: ['errors: no key'],
    says: /^POST \/v1\/chat\/completions: expected 401 missing_api_key, not 403 /,
  },
  {
    fault: 'takes an unknown key for a guest',
    meddling: {
      asks: (asked) => ({
        ...asked,
        headers: JSON.parse(JSON.stringify(asked.headers).replaceAll(`ltk_${'x'.repeat(43)}`, 'guest')),
      }),
    },
    rows: ['keys: which header counts', 'errors: an unknown key'],
    says: /^expected 401 invalid_api_key, not 200 /,
  },
  {
    fault: 'prefers Authorization',
    meddling: {
      asks: (asked) => {
        const { 'x-api-key': _, ...headers } = asked.headers;
        return asked.headers.authorization === undefined ? asked : { ...asked, headers };
      },
    },
    rows: ['keys: which header counts'],
    says: /^a good x-api-key is answered 401 /,
  },
  {
    fault: 'does not know a path with a query',
    meddling: { asks: (asked) => ({ ...asked, path: asked.path.replace('?', '%3F') }) },
    rows: ['errors: an unknown model'],
    says: /^POST \/v1\/messages\/count_tokens\?beta=true: expected 400 invalid_model, not 404 /,
  },
  {
    fault: 'takes no body over 1 MiB',
    meddling: {
      asks: (asked) => (asked.body.length > 2 ** 20 ? { ...asked, path: '/none' } : asked),
      status: (status, { path }) => (path === '/none' ? 413 : status),
    },
    rows: ['errors: a large body'],
    says: /expected 400 invalid_model, not 413 /,
  },
  {
    fault: 'has no Allow on a 405',
    meddling: onStatus(405, { allow: undefined }),
    rows: ['errors: a wrong method'],
    says: /^GET \/v1\/chat\/completions: allow is missing$/,
  },
  {
    fault: 'has no x-should-retry on a 401',
    meddling: onStatus(401, { 'x-should-retry': undefined }),
    rows: ['errors: no key', 'errors: an unknown key'],
    says: /: x-should-retry is missing$/,
  },
  {
    fault: 'has the wrong shape of errors',
    meddling: replace('"code":"not_found"', '"code":"not_found","param":null'),
    rows: ['errors: an unknown path'],
    says: /^GET \/v1\/none: error: Unrecognized key: "param"$/,
  },
  {
    fault: 'lets a picture through to the text model',
    meddling: {
      asks: (asked) => {
        const shows = asked.body.includes('"type":"image"');
        return shows ? { ...asked, body: asked.body.replace('"model":"svc"', '"model":"svc-vision"') } : asked;
      },
    },
    rows: ['errors: a picture for the text model'],
    says: /expected 400 invalid_model, not 200/,
  },
  {
    fault: 'has no Retry-After on a 429',
    meddling: onStatus(429, { 'retry-after': undefined }),
    rows: ['errors: a quota that is spent', 'errors: too many in a minute'],
    says: /: retry-after is missing$/,
  },

  // CORS
  {
    fault: 'has no x-should-retry on a spent quota',
    meddling: onStatus(429, { 'x-should-retry': undefined }),
    rows: ['errors: a quota that is spent'],
    says: /: x-should-retry is missing$/,
  },
  {
    fault: 'has no CORS headers',
    meddling: set(withoutCors),
    rows: [
      'cors: preflight',
      'cors: headers a page can read',
      'cors: errors a page can read',
      'headers: those of every answer',
    ],
    says: /^POST is not allowed$/,
  },

  // Quota
  {
    fault: 'charges streams twice',
    alone: true,
    meddling: { alsoAsks: (asked) => (streams(asked) && hasKey(asked) ? asked : undefined) },
    rows: ['quota: each answer is charged once'],
    says: /^15 charged for 11 answers, .*: POST \/v1\/chat\/completions \(stream\) is charged more than once$/,
  },
  {
    fault: 'charges for counting tokens',
    meddling: charging(({ path, headers }) => path.includes('count_tokens') && headers.authorization !== undefined),
    rows: ['quota: nothing else for a key'],
    says: /^POST \/v1\/messages\/count_tokens is charged$/,
  },
  {
    fault: 'charges preflights to the guest',
    meddling: charging(({ method }) => method === 'OPTIONS', 'guest'),
    rows: ['quota: nothing else for a guest'],
    says: /^OPTIONS \/v1\/chat\/completions is charged$/,
  },
  {
    fault: 'charges the guest for requests with keys',
    meddling: charging((asked) => isCharged(asked) && hasKey(asked), 'guest'),
    rows: ['quota: a guest is counted apart'],
    says: /^the network's guest was charged \d+ meanwhile$/,
  },
  {
    fault: 'does not refund a body that is too large',
    alone: true,
    meddling: charging(({ headers }) => headers['content-encoding'] === 'gzip'),
    rows: ['quota: failures are refunded'],
    says: /^POST \/v1\/chat\/completions answered 413, and was charged$/,
  },
  {
    fault: 'does not decompress bodies',
    meddling: {
      asks: (asked) => {
        const { 'content-encoding': _, ...headers } = asked.headers;
        return { ...asked, headers };
      },
    },
    rows: ['errors: a body that grows too large', 'errors: an unknown encoding'],
    says: /expected 413 request_too_large, not 400 /,
  },
  {
    fault: 'answers a WebSocket handshake like any wrong method',
    meddling: {
      asks: (asked) => {
        const { 'openai-beta': _, ...headers } = asked.headers;
        return { ...asked, headers };
      },
    },
    rows: ['errors: a WebSocket handshake'],
    says: /expected 426 upgrade_required, not 405 /,
  },
  {
    fault: 'counts streams late in its headers',
    alone: true,
    meddling: {
      headers: (headers, asked) =>
        streams(asked) ? { ...headers, 'x-svc-remaining': `${Number(headers['x-svc-remaining']) + 1}` } : headers,
    },
    rows: ['quota: headers agree'],
    says: /^POST \/v1\/chat\/completions \(stream\) says that 49 are left: 49 were before it, 48 after$/,
  },
  {
    fault: 'shows everybody the same limit',
    meddling: set({ 'x-svc-limit': '9999' }),
    rows: ['quota: the limit of the key'],
    says: /^it is 9999, and a guest's too/,
  },

  // Headers
  {
    fault: 'has no request id on streams',
    meddling: set({ 'x-request-id': undefined }, streams),
    rows: ['headers: those of every answer'],
    says: /\(stream\): x-request-id is missing$/,
  },
  {
    fault: 'gives one request id twice',
    meddling: set({ 'x-request-id': 'req_1', 'request-id': 'req_1' }, at('/v1/none')),
    rows: ['headers: an id for each request'],
    says: /^GET \/v1\/none and GET \/v1\/none share req_1$/,
  },

  // Hiding
  {
    fault: 'shows a header of its upstream',
    meddling: set({ 'x-ratelimit-remaining-tokens': '5' }, streams),
    rows: [hiding.headers],
    says: /^POST \/v1\/chat\/completions \(stream\): x-ratelimit-remaining-tokens: /,
  },
  {
    fault: 'shows a field of the upstream in chunks',
    meddling: replace('"object":"chat.completion.chunk"', '"provider":"x","object":"chat.completion.chunk"'),
    rows: [hiding.bodies],
    says: /^POST \/v1\/chat\/completions \(stream\): provider is there$/,
  },
];
