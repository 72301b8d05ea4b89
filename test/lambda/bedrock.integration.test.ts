import { expect, test } from '@jest/globals';
import type { Credentials } from '../../lambda/aws/access.ts';
import { createReadToken } from '../../lambda/aws/bedrock-token.ts';
import { json } from '../../local/upstream/script.ts';
import { now } from '../support/clock.ts';
import { type Refusal, startFakeBedrock } from '../support/fake-bedrock.ts';
import { startFakeUpstream } from '../support/fake-upstream.ts';
import { startTestGateway } from '../support/gateway.ts';
import { testRows } from '../support/test-rows.ts';

const claude = 'us.anthropic.claude-sonnet-5';
const other = 'openai.gpt-oss-120b-1:0';

const credentialsOf = (accessKeyId: string): Credentials => ({
  accessKeyId,
  secretAccessKey: `the secret of ${accessKeyId}`,
  sessionToken: `${'session/token+of='.repeat(20)}${accessKeyId}`,
});
const role = { credentials: credentialsOf('ROLE'), models: [claude, other] };
const successor = { credentials: credentialsOf('SUCCESSOR'), models: [claude, other] };

interface Options {
  readonly model?: string;
  /** Whose credentials the gateway has, one reading after another; the last stay. */
  readonly credentials?: readonly Credentials[];
  readonly region?: string;
  readonly tells?: boolean;
  readonly environment?: Readonly<Record<string, string>>;
}

/** A gateway in front of Bedrock in us-east-1, with nothing set but the way to sign in and a model. */
async function start({ model = claude, credentials = [role.credentials], ...options }: Options = {}) {
  await using started = new AsyncDisposableStack();
  const { region = 'us-east-1', tells = false, environment } = options;
  const bedrock = started.use(
    await startFakeBedrock({
      region: 'us-east-1',
      roles: [role, successor],
      now,
      tells,
    }),
  );
  let reads = 0;
  const readToken = createReadToken(async () => {
    reads += 1;
    return credentials[Math.min(reads, credentials.length) - 1] ?? role.credentials;
  }, now);
  const address = bedrock.origin + (model === claude ? '/anthropic/v1' : '/openai/v1');
  const gateway = started.use(
    await startTestGateway({
      readToken,
      environment: {
        ...{ UPSTREAM_AUTH: 'aws', UPSTREAM_TEXT_MODEL: model, AWS_REGION: region, UPSTREAM_BASE_URL: address },
        ...{ UPSTREAM_API_KEYS: '', UPSTREAM_VISION_MODEL: '', UPSTREAM_NAMES: '' },
        ...environment,
      },
    }),
  );
  const key = await gateway.issueKey();
  const ask = (path: string, body: object, headers = {}) =>
    gateway.post(path, { model: 'svc', ...body }, { 'x-api-key': key, ...headers });
  const chat = (content = 'Hello', more: object = {}) =>
    ask('/v1/chat/completions', { messages: [{ role: 'user', content }], ...more });
  const running = started.move();
  const tokenOf = (at: number) => String(bedrock.seen[at]?.headers.authorization).replace('Bearer ', '');
  return {
    ...{ gateway, bedrock, ask, chat, tokenOf, readToken: () => readToken(region) },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

const hello = { messages: [{ role: 'user', content: 'Hello' }] };

test('with a model of Claude, requests of every dialect are answered from messages', async () => {
  await using running = await start();
  const { seen } = running.bedrock;
  for (const [path, body] of [
    ['/v1/chat/completions', hello],
    ['/v1/chat/completions', { ...hello, stream: true }],
    ['/v1/responses', { input: 'Hello' }],
    ['/v1/messages', { ...hello, max_tokens: 50 }],
    ['/v1/messages', { ...hello, max_tokens: 50, stream: true }],
  ] as const) {
    const response = await running.ask(path, body);
    const text = await response.text();
    expect([response.status, text]).toEqual([200, expect.stringMatching(/“Hello”|message_stop|\[DONE\]/)]);
    const sent = seen.at(-1);
    expect(sent?.headers).toMatchObject({
      authorization: expect.stringMatching(/^Bearer bedrock-api-key-/),
      'anthropic-version': '2023-06-01',
    });
    expect(sent?.headers).not.toHaveProperty('x-api-key');
    expect(sent?.body).toMatchObject({ model: claude, max_tokens: path === '/v1/messages' ? 50 : 32_000 });
  }
  expect(seen.map(({ path }) => path)).toEqual(Array(5).fill('/anthropic/v1/messages'));
  // A client's own version of messages goes up as it is.
  await running.ask('/v1/messages', { ...hello, max_tokens: 50 }, { 'anthropic-version': '2026-10-21' });
  expect(seen.at(-1)?.headers['anthropic-version']).toBe('2026-10-21');
  // One token serves until it is half as old as it may be.
  expect(new Set(seen.map((_, at) => running.tokenOf(at))).size).toBe(1);
});

test('another model answers in chat completions, without any version of messages', async () => {
  await using running = await start({ model: other });
  expect((await running.chat()).status).toBe(200);
  expect((await running.ask('/v1/messages', { ...hello, max_tokens: 50 })).status).toBe(200);
  const { seen } = running.bedrock;
  expect(seen.map(({ path }) => path)).toEqual(Array(2).fill('/openai/v1/chat/completions'));
  for (const { headers } of seen) {
    expect(Object.keys(headers).filter((name) => /^(anthropic|x-api)/.test(name))).toEqual([]);
  }
});

/** Any part of a token that is long enough to be worth something. */
const holdsPartOf = (token: string, text: string): boolean =>
  [...Array(token.length - 40).keys()].some((at) => text.includes(token.slice(at, at + 40)));

/** What a chat completion says, whole or as a stream. */
function textOf(answer: string): string {
  const events = [...answer.matchAll(/^(?:data: )?(\{.*\})$/gm)].map(([, json = '']) => JSON.parse(json).choices[0]);
  return events.map(({ message, delta }) => (message ?? delta)?.content ?? '').join('');
}

testRows<[which: string, stream: boolean, refusals: number]>([
  ['made before', false, 0],
  ['made anew, after a refusal', true, 1],
])('a token that an answer holds is hidden, as it is in the log', async (_which, stream, refusals) => {
  await using running = await start({ tells: true, credentials: [role.credentials, successor.credentials] });
  running.bedrock.next.push(...Array<Refusal>(refusals).fill('unauthorized'));
  const said = textOf(await (await running.chat('Hello', { stream })).text());
  const token = running.tokenOf(refusals);
  expect(token.length).toBeGreaterThan(500);
  expect(said).toMatch(/it is (svc)+ ?\S{0,15} \./);
  expect(holdsPartOf(token, said)).toBe(false);
  expect(holdsPartOf(token, JSON.stringify(running.gateway.log))).toBe(false);
});

testRows([
  ['a short request', 'Hello'],
  ['a long one', 'Hello '.repeat(20_000)],
])('a 401 is answered with a new token, for one charge', async (_length, content) => {
  await using running = await start({ credentials: [role.credentials, successor.credentials] });
  running.bedrock.next.push('unauthorized');
  const response = await running.chat(content);
  expect([response.status, response.headers.get('x-svc-remaining')]).toEqual([200, '49']);
  expect(running.tokenOf(0)).not.toBe(running.tokenOf(1));
  const failed = running.gateway.log.filter(({ message }) => message === 'upstream failed');
  expect(failed).toEqual([expect.objectContaining({ upstreamStatus: 401, another: true })]);
});

testRows<[what: string, options: Options, refusals: Refusal[], status: number, tries: number]>([
  ['twice refused', {}, ['unauthorized', 'unauthorized'], 401, 2],
  ['unknown', { credentials: [credentialsOf('STRANGER')] }, [], 403, 1],
  ['of another region', { region: 'eu-west-1' }, [], 403, 1],
  ['of an account without access to the model', {}, ['noAccess'], 403, 1],
])(
  'a token that is refused costs the caller nothing, and tells nobody why',
  async (_what, options, refusals, ...seen) => {
    const [status, tries] = seen;
    await using running = await start(options);
    running.bedrock.next.push(...refusals);
    const response = await running.chat();
    const { error } = (await response.json()) as { error: { code: string; message: string } };
    expect([response.status, error.code, response.headers.get('x-svc-remaining')]).toEqual([
      502,
      'upstream_error',
      '50',
    ]);
    expect(error.message).not.toMatch(/aws|bedrock|token|api key|arn/i);
    expect(running.bedrock.seen).toHaveLength(tries);
    expect(running.gateway.log.at(-1)).toMatchObject({ upstreamStatus: status, refunded: true });
  },
);

test('without credentials requests are refused for now, and the start says so', async () => {
  await using gateway = await startTestGateway({
    environment: {
      ...{ UPSTREAM_AUTH: 'aws', AWS_REGION: 'us-east-1', UPSTREAM_API_KEYS: '' },
      ...{ UPSTREAM_TEXT_MODEL: claude, UPSTREAM_VISION_MODEL: '' },
    },
  });
  const response = await gateway.post('/v1/chat/completions', { model: 'svc', ...hello }, { 'x-api-key': 'guest' });
  expect(response.status).toBe(503);
  expect(gateway.log).toContainEqual(expect.objectContaining({ message: 'upstream keys not read' }));
});

testRows([
  ['UPSTREAM', 'UPSTREAM_2'],
  ['UPSTREAM_2', 'UPSTREAM'],
])('without credentials for one upstream, the other one answers', async (bedrock, other) => {
  await using upstream = await startFakeUpstream();
  upstream.otherwise(json(200, { choices: [] }));
  await using gateway = await startTestGateway({
    environment: {
      ...{ UPSTREAM_BASE_URL: '', UPSTREAM_API_KEYS: '', AWS_REGION: 'us-east-1' },
      ...{ [`${bedrock}_AUTH`]: 'aws', [`${bedrock}_TEXT_MODEL`]: claude, [`${bedrock}_VISION_MODEL`]: claude },
      ...{ [`${other}_BASE_URL`]: upstream.url, [`${other}_API_KEYS`]: 'a-key', [`${other}_TEXT_MODEL`]: 'acme-1' },
    },
  });
  const response = await gateway.post('/v1/chat/completions', { model: 'svc', ...hello }, { 'x-api-key': 'guest' });
  expect([response.status, upstream.requests.length]).toEqual([200, 1]);
});
