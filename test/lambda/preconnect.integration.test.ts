import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { expect, test } from '@jest/globals';
import { now } from '../support/clock.ts';
import { startTestGateway } from '../support/gateway.ts';
import { testRows } from '../support/test-rows.ts';
import { waitUntil } from '../support/wait-until.ts';
import { wire } from '../support/wire.ts';

test('for callers with a key, the upstream’s connection is opened while the request is charged', async () => {
  let opened = 0;
  await using server = createTcpServer((socket) => {
    opened += 1;
    socket.destroy();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await using watched = await startTestGateway({ environment: { UPSTREAM_BASE_URL: `http://127.0.0.1:${port}/v1` } });
  const refuse = async (apiKey: string) =>
    (await watched.post(wire.chat.path, { model: 'none' }, { 'x-api-key': apiKey })).status;
  expect([await refuse('guest'), await refuse('ltk_none'), opened]).toEqual([400, 503, 0]);
  expect(await refuse(await watched.issueKey())).toBe(400);
  await waitUntil(() => opened === 1, 'it is open');
});

test('what is a minute old is refreshed while the caller is identified', async () => {
  const clock = { now: now() };
  const later = clock.now + 60_000;
  let secretsRead = 0;
  const readAgain = { secret: Promise.withResolvers<void>(), stop: Promise.withResolvers<void>() };
  await using gateway = await startTestGateway({
    environment: { UPSTREAM_API_KEYS: '', UPSTREAM_SECRET_ID: 'the-keys' },
    now: () => clock.now,
    readSecret: async () => {
      if (++secretsRead === 2) readAgain.secret.resolve();
      return '{"UPSTREAM_API_KEYS":"upstream-key-one"}';
    },
    spoilStore({ name, body }) {
      if (name !== 'GetItem' || clock.now < later) return undefined;
      // The read of the key waits for the other two.
      if (!body.includes('"stopped"')) return Promise.all([readAgain.secret.promise, readAgain.stop.promise]);
      readAgain.stop.resolve();
      return undefined;
    },
  });
  const ask = async (key: string) =>
    (await gateway.post(wire.chat.path, { model: 'none' }, { 'x-api-key': key })).status;
  const key = await gateway.issueKey();
  expect(await ask(key)).toBe(400);
  clock.now = later;
  expect(await ask(key)).toBe(400);
});

test('the first caller’s key is looked up once, while the secrets are still being read', async () => {
  const lookedUp = Promise.withResolvers<void>();
  let keysRead = 0;
  await using gateway = await startTestGateway({
    environment: { NETWORK_SALT: '', NETWORK_SALT_SECRET_ID: 'the-salt' },
    readSecret: async () => {
      await lookedUp.promise;
      return 'the salt of the tests';
    },
    spoilStore({ name, body }) {
      if (name === 'GetItem' && body.includes('"key#')) {
        keysRead += 1;
        lookedUp.resolve();
      }
      return undefined;
    },
  });
  const headers = { 'x-api-key': await gateway.issueKey() };
  expect((await gateway.post(wire.chat.path, { model: 'none' }, headers)).status).toBe(400);
  expect(keysRead).toBe(1);
});

/** A server that counts connections, and answers so that nothing is retried or reused. */
async function startAddress() {
  const came = { connections: 0, requests: 0 };
  const server = createServer((request, response) => {
    came.requests += 1;
    request.resume().on('end', () => response.writeHead(400, { connection: 'close' }).end('{}'));
  });
  server.on('connection', () => (came.connections += 1)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { came, url: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: async () => void server.close() };
}

const { chat, responses, messages } = wire;
const requests: readonly [path: string, body: object][] = [
  ...[chat, responses, messages].map(({ path, question }): [string, object] => [path, question]),
  ['/v1/embeddings', { model: 'svc-embedding', input: 'hi' }],
  ['/v1/messages/count_tokens', messages.question],
  ['/v1/responses/input_tokens', responses.question],
];

const ofSecond = { API_KEYS: 'upstream-key-two', TEXT_MODEL: 'acmecorp/second', VISION_MODEL: 'acmecorp/second' };

/** Of two dialects that a request could be translated into, one is chosen. */
testRows(['chat', 'messages', 'chat,messages', 'chat,responses,messages'])(
  'where each dialect has an address of its own, the connection that is opened is the one that the request takes',
  async (spoken) => {
    await using started = new AsyncDisposableStack();
    const counts: { connections: number; requests: number }[] = [];
    /** Settings with an address of this path. */
    const at = async (name: string, path = '/v1') => {
      const { came, url } = started.use(await startAddress());
      counts.push(came);
      return { [`UPSTREAM_${name}`]: url + path };
    };
    const countsElsewhere = spoken.includes('chat') && spoken !== 'chat,responses,messages';
    const environment = {
      ...{ UPSTREAM_DIALECTS: spoken, ...(await at('BASE_URL')) },
      ...(spoken.includes('responses') && (await at('RESPONSES_BASE_URL'))),
      ...(spoken.includes('messages') && (await at('MESSAGES_BASE_URL'))),
      ...(!spoken.includes('chat') && { UPSTREAM_OUTPUT_LIMIT: '9' }),
      ...(countsElsewhere && (await at('TOKENIZE_URL', '/tokenize'))),
      // Only the second one serves embeddings, and counts tokens if the first one can't.
      ...Object.fromEntries(Object.entries(ofSecond).map(([name, value]) => [`UPSTREAM_2_${name}`, value])),
      ...{ ...(await at('2_BASE_URL')), ...(await at('2_EMBEDDINGS_BASE_URL')) },
      UPSTREAM_2_EMBEDDINGS_MODEL: 'acmecorp/embed',
    };
    const gateway = started.use(await startTestGateway({ environment }));
    const authorization = `Bearer ${await gateway.issueKey()}`;
    for (const [path, body] of requests) {
      for (const came of counts) Object.assign(came, { connections: 0, requests: 0 });
      expect(await gateway.post(path, body, { authorization })).toMatchObject({ status: 400 });
      // A needless connection would be open by now, because it would have been started first.
      const used = counts.filter(({ connections }) => connections > 0);
      expect([path, used]).toEqual([path, [{ connections: 1, requests: 1 }]]);
    }
  },
);
