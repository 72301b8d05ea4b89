import type { IncomingHttpHeaders } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { TestGateway } from '../../support/gateway.ts';
import { type Asked, combine, type Meddling } from '../../support/meddling-proxy.ts';
import { detailsOf, examine, startGatewayOfMembers } from './run-doctor.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGatewayOfMembers({ environment: { BURST_LIMIT: '55' } });
});
afterAll(() => gateway[Symbol.asyncDispose]());

type Where = (asked: Asked, status: number) => boolean;
const anywhere: Where = () => true;
const at =
  (path: string): Where =>
  (asked) =>
    asked.path === path;
const onStatus =
  (wanted: number): Where =>
  (_asked, status) =>
    status === wanted;
const streams = ({ body }: Asked) => body.includes('"stream":true');

const without = (headers: IncomingHttpHeaders, removed: RegExp) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !removed.test(name)));

/** Changes headers of answers, removes some, or replaces a text in bodies. */
const set = (changed: Readonly<Record<string, string>>, where = anywhere): Meddling => ({
  headers: (headers, asked, status) => ({ ...headers, ...(where(asked, status) && changed) }),
});
const remove = (names: RegExp, where = anywhere): Meddling => ({
  headers: (headers, asked, status) => (where(asked, status) ? without(headers, names) : headers),
});
const replace = (from: string | RegExp, to: string, where = anywhere): Meddling => ({
  text: (text, asked) => (where(asked, 200) ? text.replaceAll(from, to) : text),
});
const asking = (change: (asked: Asked) => Partial<Asked>): Meddling => ({
  asks: (asked) => ({ ...asked, ...change(asked) }),
});

/** Makes an additional charge to the key of a request. */
const charging = (where: (asked: Asked) => boolean): Meddling => ({
  alsoAsks: (asked) => {
    if (!where(asked)) return undefined;
    const headers = { ...without(asked.headers, /^content-encoding$/), 'content-type': 'application/json' };
    const body = JSON.stringify({ model: 'svc', messages: [{ role: 'user', content: 'More?' }] });
    return { method: 'POST', path: '/v1/chat/completions', headers, body };
  },
});

const any = /./;
const inEachDialect = <Says>(check: string, says: Says) =>
  Object.fromEntries(['chat', 'responses', 'messages'].map((dialect) => [`${dialect}: ${check}`, says]));
const [preflight, forPages, errorsForPages] = [
  'cors: preflight',
  'cors: answers a page can read',
  'cors: errors a page can read',
];

/** A gateway with one fault, and what the doctor says of it in which rows. */
type BrokenGateway = readonly [
  fault: string,
  meddling: Meddling,
  says: Readonly<Record<string, RegExp>>,
  /** It would keep those faults from being seen that have no such mark. */
  isApart?: true,
];

const brokenGateways: readonly BrokenGateway[] = [
  // Answers and streams
  [
    'drops the last event of responses',
    replace(/event: response\.completed\n.*\n\n/g, ''),
    { 'responses: streams to the end': /^it breaks off: its last event is response\.output_item\.done/ },
  ],
  [
    'counts no tokens of an answer',
    replace(/"output_tokens":\d+/g, '"output_tokens":0', (asked) => at('/v1/messages')(asked, 200) && !streams(asked)),
    { 'messages: reports usage': /^the answer reports 0 output tokens$/ },
  ],
  [
    'loses the usage at the end of a stream',
    replace(/"output_tokens":\d+/g, '"output_tokens":1', (asked) => at('/v1/messages')(asked, 200) && streams(asked)),
    { 'messages: reports usage': /^the stream reports 1 output tokens$/ },
  ],
  [
    'compresses streams',
    { compresses: true },
    inEachDialect('streams to the end', /^it is compressed \(gzip\), which holds events back$/),
    true,
  ],
  [
    'gives answers the wrong type',
    set({ 'content-type': 'text/html' }, (asked, status) => at('/v1/responses')(asked, status) && status === 200),
    {
      'responses: answers': /^content-type is text\/html$/,
      'responses: streams to the end': any,
      'responses: calls a tool': any,
    },
  ],
  [
    'lists models with a field too many',
    replace('"data":[', '"first_id":"svc","data":[', at('/v1/models')),
    { 'models: the list': /^the body: Unrecognized key: "first_id"$/ },
  ],
  [
    'counts no input tokens',
    replace('"input_tokens"', '"tokens"', at('/v1/messages/count_tokens')),
    { 'messages: counts tokens': /^input_tokens: / },
  ],
  [
    'writes vectors as a text',
    replace(/"embedding":\[[^\]]*\]/g, '"embedding":"AAAA"', at('/v1/embeddings')),
    { 'embeddings: makes a vector': /^data\.0\.embedding: / },
  ],
  [
    'counts no tokens of vectors',
    replace(/"prompt_tokens":\d+/g, '"prompt_tokens":0', at('/v1/embeddings')),
    { 'embeddings: reports usage': /^the answer reports 0 input tokens$/ },
  ],
  [
    'leaves the model of vectors as the upstream calls it',
    replace('"model":"svc-embedding"', '"model":"embed-4"', at('/v1/embeddings')),
    {
      'embeddings: makes a vector': /^model: /,
      'hiding: no trace in bodies': /^POST \/v1\/embeddings: model is embed-4$/,
    },
  ],
  [
    'names its upstream among vectors',
    replace('"object":"list"', '"object":"list","x":[{"data":[{"by":"AcmeCorp"}]}]', at('/v1/embeddings')),
    { 'hiding: no name anywhere': /^POST \/v1\/embeddings: x\.0\.data\.0\.by has AcmeCorp$/ },
  ],

  // Errors
  [
    'takes an unknown key for a guest',
    asking(({ headers }) => ({
      headers: JSON.parse(JSON.stringify(headers).replaceAll(`ltk_${'x'.repeat(43)}`, 'guest')),
    })),
    {
      'errors: an unknown key': /^POST \/v1\/chat\/completions: expected 401 invalid_api_key, not 200 /,
    },
  ],
  [
    'does not know a path with a query',
    asking(({ path }) => ({ path: path.replace('?', '%3F') })),
    {
      'errors: an unknown model': /^POST \/v1\/messages\/count_tokens\?beta=true: expected 400 invalid_model, not 404 /,
    },
  ],
  [
    'changes letters',
    replace('modè', 'mod?'),
    {
      'errors: an unknown model': /error\.message: it does not quote modèle.*changes letters beyond ASCII$/,
      'errors: a large body': any,
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
    'does not decompress bodies',
    asking(({ headers }) => ({ headers: without(headers, /^content-encoding$/) })),
    { 'errors: a body that grows too large': /expected 413 request_too_large, not 400 / },
  ],
  [
    'has no x-should-retry on a 401',
    remove(/^x-should-retry$/, onStatus(401)),
    { 'errors: no key': /: x-should-retry is missing$/, 'errors: an unknown key': any },
  ],
  [
    'names another code in the header',
    set({ 'x-svc-error': 'gone' }, at('/v1/none')),
    { 'errors: an unknown path': /^GET \/v1\/none: x-svc-error is gone$/ },
  ],
  [
    'has the shape of the other dialect',
    replace('"type":"error",', '', (asked) => at('/v1/messages')(asked, 200) && asked.method === 'GET'),
    { 'errors: a wrong method': /^GET \/v1\/messages: type: / },
  ],
  [
    'replaces errors by pages',
    { text: (text, { path }) => (path === '/v1/none' ? '<html>' : text) },
    { 'errors: an unknown path': /^GET \/v1\/none: no JSON: 404 <html>$/ },
  ],

  // CORS
  [
    'has no CORS headers',
    remove(/^access-control-/),
    { [preflight]: /^POST is not allowed$/, [forPages]: /no page can send requests$/, [errorsForPages]: any },
  ],

  // Quota
  [
    'charges streams twice',
    { alsoAsks: (asked) => (streams(asked) ? asked : undefined) },
    {
      'quota: each answer is charged once':
        /^4\d were left before .*\(stream\), 4\d by its own headers, 4\d after it; if/,
    },
  ],
  [
    'counts streams late in its headers',
    {
      headers: (headers, asked) =>
        streams(asked) ? { ...headers, 'x-svc-remaining': `${Number(headers['x-svc-remaining']) + 1}` } : headers,
    },
    {
      'quota: each answer is charged once': /^49 were left before .*\(stream\), 49 by its own headers, 48 after it; if/,
    },
  ],
  [
    'does not refund a body that is too large',
    charging(({ headers }) => headers['content-encoding'] === 'gzip'),
    { 'quota: failures are refunded': /^POST \/v1\/chat\/completions answered 413, and was charged; if/ },
    true,
  ],
  [
    'charges for an unknown model',
    charging(({ path }) => path === '/v1/models/none'),
    { 'quota: nothing else is charged': /^1 more than the answers took; if/ },
  ],

  [
    'states other limits than its stage',
    set({ 'x-svc-limit': '9999' }, at('/v1/models')),
    {
      'quota: the limits': /^9999 for the key, 9999 for a placeholder, but a guest has 3$/,
      'quota: figures that agree': /^POST \/v1\/.*: x-svc-limit is 50, and was 9999 in GET \/v1\/models$/,
    },
  ],

  // Headers and hiding
  [
    'gives one request id twice',
    set({ 'x-request-id': 'req_1', 'request-id': 'req_1' }, at('/v1/models')),
    { 'headers: an id for each request': /^GET \/v1\/models: it has the id of GET \/v1\/models, req_1$/ },
  ],
  ['may be cached', set({ 'cache-control': 'public' }), { 'headers: those of every answer': /control is public$/ }],
  [
    'shows a field of the upstream in chunks',
    replace('"object":"chat.completion.chunk"', '"provider":"x","object":"chat.completion.chunk"'),
    { 'hiding: no trace in bodies': /^POST \/v1\/chat\/completions \(stream\): provider is there$/ },
  ],
];

/** Packs faults into few gateways, each with at most one for a row of the report. */
function pack(faults: readonly BrokenGateway[]): BrokenGateway[][] {
  const packs: BrokenGateway[][] = [];
  for (const fault of faults) {
    const [, , says, isApart] = fault;
    const fits = ([, , taken, isOtherApart]: BrokenGateway) =>
      isApart === isOtherApart && !Object.keys(taken).some((row) => row in says);
    const free = packs.find((others) => others.every(fits));
    if (free) free.push(fault);
    else packs.push([fault]);
  }
  return packs;
}

test.each(pack(brokenGateways).map((faults) => [faults.map(([fault]) => fault).join(', '), faults] as const))(
  'the doctor finds a gateway that %s',
  async (_all, faults) => {
    const meddling = combine(faults.map(([, one]) => one));
    const found = detailsOf(await examine(gateway, ['--names', 'AcmeCorp'], { meddling, stage: {} }));
    const expected = faults.flatMap(([, , says]) => Object.entries(says));
    expect(found).toEqual(Object.fromEntries(expected.map(([row, says]) => [row, expect.stringMatching(says)])));
  },
);

test('without --stage too, the doctor finds streams that are held to their end, and figures that contradict each other', async () => {
  await using paced = await startGatewayOfMembers({ pace: 8 });
  const figures = set({ 'x-svc-budget-limit': '1.00', 'x-svc-budget-remaining': '0.50' });
  const meddling = combine([{ holdsBack: true }, figures]);
  const rows = await examine(paced, [], { meddling, now: () => performance.now() });
  const says = /^\d+ pieces of text in \d+ steps, after pauses of up to \d+ ms: something on the way holds the stream/;
  expect(detailsOf(rows)).toEqual({
    ...inEachDialect('streams event by event', expect.stringMatching(says)),
    'quota: figures that agree': 'GET /v1/models: x-svc-budget-reset is missing',
  });
});
