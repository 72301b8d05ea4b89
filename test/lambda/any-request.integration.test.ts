import { once } from 'node:events';
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import { messagesTypes } from '../../lambda/dialects/messages/messages.ts';
import { openAiTypes } from '../../lambda/dialects/model/openai.ts';
import { catalogue, type ErrorCode } from '../../lambda/errors.ts';
import { json, type Script, sse } from '../../local/upstream/script.ts';
import { readContract } from '../docs/contract.ts';
import { startTestGateway } from '../support/gateway.ts';
import fc, { many, upTo } from '../support/properties.ts';
import { findIdentity } from '../support/upstream-identity.ts';
import { wire } from '../support/wire.ts';
import { brokenJson, printedJson } from './json/arbitrary-json.ts';

const inference = [
  ...Object.values(wire).map(({ path }) => path),
  '/v1/messages/count_tokens',
  '/v1/responses/compact',
  '/v1/responses/input_tokens',
  '/v1/embeddings',
];
const others = ['/v1/models', '/v1/models/svc', '/v1/models/', '/', '/v1', '/v1/', '/v2/messages'];
const methods = ['GET', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'PURGE', 'QUERY'];
const odd = ['__proto__', 'constructor', '..', '%2e%2e', '%00', '%', '%zz', '%F0%9F', '*', '[]', ';', '\\', '/'];
const often = <T, U>(one: fc.Arbitrary<T>, other: fc.Arbitrary<U>) => fc.oneof({ weight: 6, arbitrary: one }, other);
const long = fc.nat({ max: 4_000 }).map((length) => 'a'.repeat(length));

const otherPath = fc.constantFrom(...others);
const path = fc
  .record({
    path: fc.constantFrom(...inference, ...others),
    at: fc.option(fc.nat(), { freq: 2 }),
    cut: fc.nat({ max: 1 }),
    piece: fc.oneof(
      fc.constantFrom(...odd, '?beta=true&__proto__=1&__proto__[a]=2'),
      fc.string({ unit: 'grapheme' }).map(encodeURIComponent),
      long,
    ),
  })
  .map(({ path: whole, at, cut, piece }) => {
    const place = at === null ? whole.length : 1 + (at % whole.length);
    return whole.slice(0, place) + piece + whole.slice(place + cut);
  });

const headerText = fc.oneof(
  fc.string({ unit: upTo(0xff) }).map((any) => any.replace(/[^\t\x20-\x7e\x80-\xff]/g, '?')),
  fc.constantFrom(...odd, '', 'AcmeCorp'),
  long,
);
/** A placeholder for a key, which is only known when the requests are sent. */
const issued = 'ISSUED';
const credential = fc.oneof(fc.constantFrom('guest', issued, `${issued}x`, 'ltk_', ` ${issued} `), headerText);
const headerNames = [
  ...['content-type', 'accept', 'anthropic-version', 'anthropic-beta', 'openai-beta'],
  ...['origin', 'access-control-request-method', 'access-control-request-headers', 'accept-encoding', 'cookie', 'te'],
  ...['content-encoding', 'forwarded', 'x-forwarded-for', 'x-amzn-trace-id', 'upgrade', 'range', '__proto__'],
  'traceparent',
];
const special = fc.constantFrom('gzip', 'https://app.example', 'x:99999', '[::1', 'websocket', 'POST', 'bytes=0-1');
const single = fc.oneof(headerText, special);
const value = fc.oneof(single, fc.tuple(headerText, headerText));
// Two `host` headers are no valid request: see attacks-on-the-wire.
const host = fc.tuple(fc.constant('host'), single);
const keyHeader = fc.oneof(
  fc.tuple(fc.constant('api-key'), credential),
  fc.tuple(fc.constant('authorization'), fc.oneof(credential, credential.map(bearer))),
);
const headers = fc
  .tuple(
    fc.oneof({ weight: 6, arbitrary: fc.constant('guest') }, credential, fc.constant(undefined)),
    fc.array(often(fc.tuple(fc.constantFrom(...headerNames), value), fc.oneof(keyHeader, host)), { maxLength: 3 }),
  )
  .map(([key, more]) => new Map([...(key === undefined ? [] : [['x-api-key', key] as const]), ...more]));

/** Names and values with a meaning somewhere, for use anywhere. */
const names = [
  ...['model', 'm\\u006fdel', 'messages', 'input', 'stream', 'content', 'role', 'type', 'text', 'tools', 'system'],
  ...['thinking', 'output_config', 'effort', 'max_tokens', 'prompt', 'source', 'output', 'image_url', 'thread'],
  ...['previous_response_id', 'conversation', 'background', '__proto__', 'constructor', ''],
];
const words = [
  ...['svc', 'svc-vision', 'opus', 'sonnet[1m]', 'claude-x', 'constructor', '__proto__', 'text', 'image', 'image_url'],
  ...['input_image', 'input_text', 'tool_result', 'none', 'disabled', 'message', 'video', 'AcmeCorp'],
];
const word = fc.constantFrom(...words).map((one) => JSON.stringify(one));
const anything = fc.oneof(
  {
    weight: 30,
    arbitrary: fc.oneof(
      word,
      printedJson.map((printed) => printed.text),
    ),
  },
  brokenJson,
);
const members = fc
  .array(fc.tuple(fc.constantFrom(...names), anything), { maxLength: 3 })
  .map((all) => all.map(([name, any]) => `,"${name}":${any}`).join(''));
const part = fc.tuple(word, members).map(([type, more]) => `[{"type":${type},"text":"x"${more}}]`);
const turns = fc.oneof(part, anything).map((content) => `[{"role":"user","content":${content}}]`);
const known = fc.constantFrom('"svc"', '"svc-vision"', '"svc-embedding"', '"opus"', '"claude-x"');
const question = fc
  .tuple(often(known, anything), often(turns, anything), often(turns, anything), members, fc.boolean())
  .map(([model, messages, input, more, stream]) => {
    const max = more.includes('max_tokens') ? '' : ',"max_tokens":9';
    return `{"model":${model},"messages":${messages},"input":${input}${max}${more}${stream ? ',"stream":true' : ''}}`;
  });
const nested = fc
  .tuple(fc.nat({ max: 12_000 }), fc.constantFrom(['[', ']'] as const, ['{"content":', '}'] as const))
  .map(
    ([depth, [open, close]]) =>
      `{"model":"svc","messages":[],"input":"","x":${open.repeat(depth)}1${close.repeat(depth)}}`,
  );
const body = fc.oneof(
  { weight: 16, arbitrary: question.map((sent) => Buffer.from(sent)) },
  question.map((sent) => gzipSync(sent)),
  nested.map((sent) => Buffer.from(sent)),
  fc.tuple(question, fc.nat()).map(([sent, end]) => Buffer.from(sent).subarray(0, end % sent.length)),
  fc
    .tuple(question, fc.nat(), fc.nat({ max: 255 }))
    .map(([sent, at, byte]) => Buffer.from(sent).fill(byte, at % sent.length)),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
);

/** A request from any stranger. Most of these get as far as their body, in order to reach the deeper layers too. */
const ordinary = fc.record({
  path: fc.oneof({ weight: 7, arbitrary: fc.constantFrom(...inference) }, { weight: 2, arbitrary: path }, otherPath),
  method: often(fc.constant(undefined), fc.constantFrom(...methods)),
  headers,
  body,
});
const preflight = ordinary.map((sent) => {
  const asked = new Map([...sent.headers, ['access-control-request-method', 'POST']]);
  return { ...sent, method: 'OPTIONS', headers: asked };
});
/** A server answers a longer head itself (engines/unreadable.integration.test.ts). */
const input = fc
  .oneof({ weight: 15, arbitrary: ordinary }, preflight)
  .filter(({ path, headers }) => path.length + [...headers].flat(2).join('').length < 15_000);
type Drawn = typeof input extends fc.Arbitrary<infer One> ? One : never;
type Sent = Omit<Drawn, 'method'> & { readonly method: string };

function bearer(text: string): string {
  return `Bearer ${text}`;
}

const contract = readContract();
const documented = new Set(contract.operations.map((operation) => operation.path));
const parallel = 8;
const environment = {
  ...{ GUEST_LIMIT: '1000000', MEMBER_LIMIT: '1000000', BURST_LIMIT: '10000' },
  ...{ UPSTREAM_EMBEDDINGS_MODEL: 'acmecorp/thunder-embed', UPSTREAM_TRACE: 'true' },
};

/** Sends these to a gateway. Returns how they are answered, and what is wrong about it. */
async function sendAll(inputs: readonly Drawn[], engine: 'function-url' | 'web') {
  const clock = { time: Date.UTC(2026, 10, 21) };
  await using gateway = await startTestGateway({ engine, environment, now: () => clock.time });
  gateway.upstream.otherwise(answerTo);
  const key = await gateway.issueKey();
  const agent = new Agent({ keepAlive: true });
  const outcomes: string[] = [];
  const faults: string[] = [];
  const queue = inputs.values();
  const work = async () => {
    for (const drawn of queue) {
      const sent = { ...drawn, method: drawn.method ?? (drawn.path.startsWith('/v1/models') ? 'GET' : 'POST') };
      const answer = await send(gateway.url, agent, sent, key);
      const outcome = `${answer.status} ${answer.headers.get('x-svc-error') ?? ''}`.trim();
      outcomes.push(outcome);
      for (const fault of judge(sent, answer, key)) faults.push(`${engine}: ${fault}: ${describe(sent)} -> ${outcome}`);
      // Many requests in one minute would only slow the counters down.
      clock.time += 600;
    }
  };
  await Promise.all(Array.from({ length: parallel }, work));
  agent.destroy();
  expect(gateway.faults).toEqual([]);
  expect(gateway.log).toHaveLength(inputs.length);
  return { outcomes, faults };
}

// For more and other requests: SEED=2 npm run test:integration -- any-request
test('whatever is sent, to either engine, a valid answer comes back', async () => {
  const inputs = fc.sample(input, many(400));
  const half = inputs.length / 2;
  const byFunction = await sendAll(inputs.slice(0, half), 'function-url');
  const byServer = await sendAll(inputs.slice(half), 'web');
  expect([...byFunction.faults, ...byServer.faults]).toEqual([]);
  // They must reach every layer, or it would prove little.
  const layers = [
    ...['200', '204', '400 invalid_request', '400 invalid_model', '401 missing_api_key', '401 invalid_api_key'],
    ...['404 not_found', '405 method_not_allowed'],
  ];
  expect([...byFunction.outcomes, ...byServer.outcomes]).toEqual(expect.arrayContaining(layers));
});

async function send(url: string, agent: Agent, { method, path, headers, body }: Sent, key: string) {
  // `path` is passed separately, because a URL would be normalized.
  const { hostname, port } = new URL(url);
  const outgoing = httpRequest({ hostname, port, agent, method, path });
  for (const [name, value] of headers) {
    outgoing.setHeader(
      name,
      [value].flat().map((one) => one.replace(issued, key)),
    );
  }
  if (method === 'GET' || method === 'HEAD') outgoing.end();
  else outgoing.setHeader('content-length', body.length).end(body);
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
  const received = new Headers();
  for (const [name, values = []] of Object.entries(answer.headersDistinct)) {
    for (const one of values) received.append(name, one);
  }
  return { status: answer.statusCode ?? 0, headers: received, body: await text(answer) };
}

const vector = { object: 'embedding', index: 0, embedding: [1] };

/** The response of an upstream that parses the request: the gateway must forward only valid JSON. */
function answerTo({ path, body }: { readonly path: string; readonly body: Buffer }): Script {
  const { stream } = JSON.parse(body.toString());
  const dialect = Object.values(wire).find((one) => one.path === path);
  if (path === '/v1/embeddings') return json(200, { object: 'list', data: [vector], model: 'acmecorp/thunder-embed' });
  if (path.endsWith('/compact')) return json(200, { object: 'response.compaction', output: [] });
  if (!dialect) return json(200, { object: 'response.input_tokens', input_tokens: 1 });
  return stream === true ? sse(dialect.events.join('')) : json(200, dialect.answer);
}

type Reply = Awaited<ReturnType<typeof send>>;

function judge({ method, path: target, headers, body }: Sent, answer: Reply, key: string): string[] {
  const faults: string[] = [];
  const path = target.split('?')[0] ?? '';
  const known = documented.has(path) ? path : path.startsWith('/v1/models/') ? '/v1/models/{id}' : path;
  const code = answer.headers.get('x-svc-error');
  if (answer.status >= 500) faults.push('a failure');
  if (method === 'HEAD' || (method === 'OPTIONS' && !documented.has(known))) {
    if (answer.body !== '') faults.push('a body where none may be');
    if (answer.headers.get('x-svc-remaining') === null) faults.push('no figures');
  } else {
    faults.push(...contract.judge(method, known, answer));
    if (code !== null) faults.push(...judgeError(code, answer));
  }
  const all = answer.body + JSON.stringify([...answer.headers]);
  if (all.includes(key)) faults.push('the key');
  // An `invalid_model` error repeats the model's name to its sender.
  const own = JSON.stringify([...headers]) + (code === 'invalid_model' ? body : '');
  if (findIdentity(all).length > 0 && !/acme/i.test(own)) faults.push('the upstream’s name');
  return faults;
}

/** Whether the body agrees with the status and the header. */
function judgeError(code: string, { status, body }: Reply): string[] {
  const { status: due, nature } = catalogue[code as ErrorCode];
  const { error } = JSON.parse(body);
  const type = (error.code === undefined ? messagesTypes : openAiTypes)[nature];
  const right = status === due && error.type === type && (error.code ?? code) === code;
  return right ? [] : [`the body says ${error.type} ${error.code}, the header ${code}`];
}

function describe(sent: Sent): string {
  const shown = { ...sent, headers: [...sent.headers], body: sent.body.toString('latin1') };
  return JSON.stringify(shown)
    .replace(/a{99,}/g, 'aaa…')
    .slice(0, 2_000);
}
