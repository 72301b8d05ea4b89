import { createServer } from 'node:http';
import { expect, test } from '@jest/globals';
import { dialects } from '../../../lambda/dialects/index.ts';
import { readConfig } from '../../../lambda/settings/config.ts';
import { checkUpstreams, type UpstreamFound } from '../../../lambda/upstream/start-check.ts';
import { listenLocally } from '../../../local/listen-locally.ts';
import { testRows } from '../../support/test-rows.ts';
import { findIdentity } from '../../support/upstream-identity.ts';

const [text, vision] = ['acmecorp/thunder-70b-instruct', 'acmecorp/thunder-eyes'];
const list = JSON.stringify({ data: [{ id: text }, { id: vision }] });
const everywhere = {
  '/models': [200, list],
  '/chat/completions': [400],
  '/responses': [422],
  '/messages': [400],
} as const;
type Answers = Readonly<Record<string, readonly [status: number, body?: string]>>;

/** What a start finds at an upstream that answers like this, and what it was asked. */
async function find(answers: Answers, settings: Readonly<Record<string, string>> = {}, tokens: readonly string[] = []) {
  const asked: { readonly line: string; readonly headers: object; readonly body: string }[] = [];
  const server = await listenLocally(
    createServer(async (request, response) => {
      const [body = ''] = await request.setEncoding('utf8').toArray();
      asked.push({ line: `${request.method} ${request.url}`, headers: request.headers, body });
      const [status, answer = '{}'] = answers[request.url?.replace('/api/v1', '') ?? ''] ?? [404];
      response.writeHead(status, { location: '/elsewhere' }).end(answer);
    }),
    0,
  );
  const config = readConfig({
    UPSTREAM_BASE_URL: `${server.url}/api/v1`,
    UPSTREAM_TEXT_MODEL: text,
    UPSTREAM_VISION_MODEL: vision,
    UPSTREAM_API_KEYS: 'the-first-key,the-second-key',
    KEYS_TABLE: 'keys',
    QUOTA_TABLE: 'quota',
    NETWORK_SALT: 'the salt of the tests',
    ...settings,
  });
  const found: UpstreamFound[] = [];
  const readAccess = async ({
    apiKeys,
    headers,
  }: {
    apiKeys: readonly string[];
    headers: Readonly<Record<string, string>>;
  }) => ({
    ...{ keys: [...apiKeys, ...tokens], headers, secretHeaders: { 'x-team': 'a-secret' } },
  });
  await checkUpstreams(config.upstreams.all, dialects, readAccess, (one) => found.push(one));
  await server.close();
  expect(findIdentity(JSON.stringify(found))).toEqual([]);
  expect(JSON.stringify(found)).not.toMatch(/the-first-key|a-secret|127\.0\.0/);
  return { found, asked };
}

const fine = { upstream: 'UPSTREAM', reachable: true, key: 'accepted', models: 'known' };

test('it is asked for its models, and each dialect for nothing, with the key and the headers that it wants', async () => {
  const { found, asked } = await find(everywhere);
  expect(found).toEqual([{ ...fine, speaks: 'chat,responses,messages', hint: undefined }]);
  expect(asked.map(({ line, body }) => [line, body]).toSorted()).toEqual([
    ['GET /api/v1/models', ''],
    ['POST /api/v1/chat/completions', '{}'],
    ['POST /api/v1/messages', '{}'],
    ['POST /api/v1/responses', '{}'],
  ]);
  for (const { headers } of asked) {
    expect(headers).toMatchObject({ authorization: 'Bearer the-first-key', 'x-team': 'a-secret' });
  }
  const messages = asked.find(({ line }) => line.endsWith('/messages'))?.headers;
  expect(messages).toMatchObject({ 'x-api-key': 'the-first-key', 'anthropic-version': '2023-06-01' });
});

testRows<[Answers, Readonly<Record<string, string>>, object]>([
  // Only these two statuses say that nobody is there.
  [
    { ...everywhere, '/responses': [404], '/messages': [405] },
    { UPSTREAM_DIALECTS: 'chat' },
    { ...fine, speaks: 'chat', hint: undefined },
  ],
  [
    { ...everywhere, '/responses': [404], '/messages': [405] },
    {},
    {
      ...{ ...fine, speaks: 'chat' },
      hint: 'the upstream does not speak responses and messages: set UPSTREAM_DIALECTS=chat, and they are translated',
    },
  ],
  // This one knows the path, and misses a model.
  [
    { ...everywhere, '/chat/completions': [404, '{"error":{"code":"model_not_found"}}'] },
    {},
    { ...fine, hint: undefined },
  ],
  [
    { '/models': [404], '/chat/completions': [500], '/responses': [200], '/messages': [429] },
    {},
    { ...fine, models: 'not listed', speaks: 'chat,responses,messages', hint: undefined },
  ],
  [
    { ...everywhere, '/models': [200, JSON.stringify({ data: [{ id: text }] })] },
    {},
    { ...fine, models: 'unknown', hint: expect.stringMatching(/^the upstream lists no model of UPSTREAM_TEXT_MODEL/) },
  ],
  [{ ...everywhere, '/models': [200, '<html>'] }, {}, { ...fine, models: 'not listed' }],
  [{ ...everywhere, '/models': [302] }, {}, { ...fine, models: 'not listed' }],
  [
    { ...everywhere, '/chat/completions': [401] },
    {},
    { key: 'refused', models: undefined, hint: 'the upstream refuses the key: replace the first of UPSTREAM_API_KEYS' },
  ],
  [{ ...everywhere, '/models': [403] }, {}, { key: 'refused' }],
  // Nobody has read the key.
  [
    { '/models': [503], '/chat/completions': [500], '/responses': [502], '/messages': [404] },
    { UPSTREAM_DIALECTS: 'chat' },
    { reachable: true, key: undefined, models: 'not listed' },
  ],
  // An answer of a dialect is read no further than any error is long.
  [{ ...everywhere, '/messages': [404, `${'x'.repeat(200_000)} model`] }, {}, { ...fine, speaks: 'chat,responses' }],
  [{}, {}, { speaks: 'none', hint: 'no dialect is at UPSTREAM_BASE_URL: it may lack its version prefix, such as /v1' }],
])('what it answers is told with what to do', async (answers, settings, expected) => {
  expect((await find(answers, settings)).found).toEqual([expect.objectContaining(expected)]);
});

test('one that can’t be reached is told by the code of the error, and one without a key is not asked', async () => {
  const nobody = { UPSTREAM_BASE_URL: 'http://127.0.0.1:1/v1' };
  expect((await find({}, nobody)).found).toEqual([
    {
      ...{ upstream: 'UPSTREAM', reachable: false, causeCode: 'ECONNREFUSED' },
      hint: expect.stringMatching(/^UPSTREAM_BASE_URL leads nowhere/),
    },
  ]);
  expect(await find(everywhere, { UPSTREAM_API_KEYS: '' })).toEqual({ found: [], asked: [] });
});

test('a list that is longer than any is read no further', async () => {
  const endless = JSON.stringify({ data: Array(200_000).fill({ id: 'x'.repeat(20) }) });
  expect((await find({ ...everywhere, '/models': [200, endless] })).found).toMatchObject([{ models: 'not listed' }]);
});

test('one that switches to another protocol is no upstream', async () => {
  const server = await listenLocally(
    createServer().on('request', ({ socket }) =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
    ),
    0,
  );
  const { found } = await find({}, { UPSTREAM_BASE_URL: server.url });
  expect(found).toMatchObject([{ reachable: false, causeCode: 'UPGRADE' }]);
  await server.close();
});

test('a token of Bedrock goes in the one header that it reads', async () => {
  const model = 'us.anthropic.claude-sonnet-5';
  const models = { UPSTREAM_TEXT_MODEL: model, UPSTREAM_VISION_MODEL: model };
  const aws = { UPSTREAM_AUTH: 'aws', UPSTREAM_API_KEYS: '', AWS_REGION: 'eu-central-1', ...models };
  const { asked } = await find(everywhere, aws, ['a-token']);
  const messages = asked.find(({ line }) => line.endsWith('/messages'))?.headers;
  expect(messages).toMatchObject({ authorization: 'Bearer a-token', 'anthropic-version': '2023-06-01' });
  expect(messages).not.toHaveProperty('x-api-key');
});
