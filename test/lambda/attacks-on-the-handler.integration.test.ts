import { expect, test } from '@jest/globals';
import { createGateway } from '../../lambda/gateway.ts';
import { readCredential } from '../../lambda/identity/keys.ts';
import { readConfig } from '../../lambda/settings/config.ts';
import { json } from '../../local/upstream/script.ts';
import { callWith } from '../support/call.ts';
import { startTestDynamoDb } from '../support/dynamodb.ts';
import { startFakeUpstream } from '../support/fake-upstream.ts';
import { settingsWith } from '../support/gateway.ts';
import { testRows } from '../support/test-rows.ts';
import { wire } from '../support/wire.ts';

type App = ReturnType<typeof createGateway>;

/** The gateway with events as Lambda passes them, which may have what no HTTP connection lets through. */
async function startApp(environment: Readonly<Record<string, string>> = {}) {
  await using started = new AsyncDisposableStack();
  const upstream = started.use(await startFakeUpstream());
  upstream.otherwise(json(200, wire.messages.answer));
  const dynamoDb = await startTestDynamoDb();
  started.defer(dynamoDb.close);
  const config = readConfig({ ...settingsWith(upstream, dynamoDb), ...environment });
  const readSecret = () => Promise.reject(new Error('no secrets here'));
  const writeLog = () => {};
  const app = createGateway(config, { ...dynamoDb, readSecret, writeLog, now: Date.now });
  const running = started.move();
  return { app, upstream, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

interface Sending {
  readonly sourceIp?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly path?: string;
}

async function send(app: App, { sourceIp = '203.0.113.9', method = 'POST', headers = {}, path }: Sending) {
  const call = callWith({
    method,
    path: path ?? wire.messages.path,
    headers: { 'x-api-key': 'guest', 'content-type': 'application/json', ...headers },
    sourceAddress: sourceIp,
    body: JSON.stringify(wire.messages.question),
  });
  const { statusCode, headers: answered } = await app(call);
  // Lambda's answer must be valid in HTTP.
  for (const [name, value] of Object.entries(answered)) new Headers([[name, value]]);
  const received = new Headers(Object.entries(answered));
  return { outcome: `${statusCode} ${received.get('x-svc-error') ?? ''}`.trim(), headers: received };
}

const injections = ['a\r\nx-api-key: stolen', 'a\nb', 'a\rb', 'a\0b', 'a\u{1f4a5}', 'Ā', 'a\u2028b', 'é'];

testRows(['origin', 'access-control-request-headers', 'access-control-request-method', 'x-request-id'])(
  'a header that would smuggle in another does not come back',
  async (name) => {
    await using gateway = await startApp({ CORS_ORIGINS: 'https://app.example', GUEST_LIMIT: '100' });
    for (const value of injections) {
      const preflight = { 'access-control-request-method': 'POST', [name]: value };
      const { outcome, headers } = await send(gateway.app, { method: 'OPTIONS', headers: preflight });
      expect(outcome).toBe('204');
      expect(JSON.stringify([...headers])).not.toContain(JSON.stringify(value).slice(1, -1));
      expect((await send(gateway.app, { headers: { [name]: value } })).outcome).toBe('200');
    }
  },
);

testRows(['x'.repeat(65_536), '\u{1f4a5}', 'a\r\nb', '__proto__'])('a placeholder may be any text', async (text) => {
  await using gateway = await startApp();
  expect((await send(gateway.app, { headers: { 'x-api-key': text } })).outcome).toBe('200');
  expect(JSON.stringify(gateway.upstream.requests[0]?.rawHeaders)).not.toContain(JSON.stringify(text).slice(1, -1));
  // No key was ever issued here.
  expect((await send(gateway.app, { headers: { 'x-api-key': `ltk_${text}` } })).outcome).toBe('503 unconfigured');
});

/** Headers that count how often each is read by its name. */
function countReads(headers: Readonly<Record<string, string>>) {
  const reads: string[] = [];
  const counting = new Proxy(headers, {
    get(target, name: string) {
      reads.push(name);
      return target[name];
    },
  });
  return { counting, readsOf: (name: string) => reads.filter((one) => one === name).length };
}

test('the key and the encoding of a request are read once', async () => {
  await using gateway = await startApp();
  const headers = { 'x-api-key': 'guest', 'content-type': 'application/json', 'content-encoding': 'identity' };
  const once = countReads(headers);
  readCredential(once.counting);
  const { counting, readsOf } = countReads(headers);
  const { path, question } = wire.messages;
  const { statusCode } = await gateway.app(
    callWith({ method: 'POST', path, headers: counting, body: JSON.stringify(question) }),
  );
  expect([statusCode, gateway.upstream.requests.length]).toEqual([200, 1]);
  expect(readsOf('x-api-key')).toBe(once.readsOf('x-api-key'));
  expect(readsOf('content-encoding')).toBe(1);
});
