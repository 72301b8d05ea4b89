import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { head, json, silence, write } from '../../local/upstream/script.ts';
import { spawnGateway, startGatewayProcess } from '../local/gateway-process.ts';
import { createClient, networkOf } from '../support/addressed-client.ts';
import { buildServerOnce } from '../support/build-server-once.ts';
import { startTestDynamoDb } from '../support/dynamodb.ts';
import { readValue } from '../support/exposition.ts';
import { answer, startFakeService } from '../support/fake-service.ts';
import { startFakeUpstream } from '../support/fake-upstream.ts';
import { settingsWith } from '../support/gateway.ts';
import { startSpanReceiver } from '../support/span-receiver.ts';
import { startStoreProxy } from '../support/store-proxy.ts';
import { inTime } from '../support/wait-until.ts';
import { wire } from '../support/wire.ts';

const folder = mkdtempSync(join(tmpdir(), 'gateway-server-'));
const file = join(await buildServerOnce(), 'index.js');
const { path, question, events } = wire.chat;
const eventStream = head(200, { 'content-type': 'text/event-stream' });
const [first = ''] = events;

const dynamoDb = await startTestDynamoDb();
const upstream = await startFakeUpstream();
afterAll(async () => {
  await upstream.close();
  await dynamoDb.close();
  rmSync(folder, { recursive: true });
});

const settings = (endpoint = dynamoDb.endpoint) => ({
  ...settingsWith(upstream, dynamoDb),
  GUEST_LIMIT: '1000',
  BURST_LIMIT: '1000',
  APP_URL: 'https://app.example',
  AWS_REGION: 'local',
  AWS_ACCESS_KEY_ID: 'local',
  AWS_SECRET_ACCESS_KEY: 'local',
  AWS_ENDPOINT_URL_DYNAMODB: endpoint,
});

async function standing(from: string): Promise<number> {
  const Key = { pk: { S: `guest#${networkOf(from)}` } };
  const input = { TableName: dynamoDb.quotaTable, Key, ConsistentRead: true };
  const { Item } = await dynamoDb.callDynamoDb<{ Item?: { ulifetime?: { N: string } } }>('GetItem', input);
  return Number(Item?.ulifetime?.N ?? 0);
}

/** This many streams of one guest, all of which have begun. */
async function openStreams(url: string, from: string, count: number) {
  upstream.otherwise([eventStream, write(first), silence]);
  const client = createClient(url);
  const begun: Promise<void>[] = [];
  const body = JSON.stringify({ ...question, stream: true });
  const answers = Array.from({ length: count }, () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    begun.push(promise);
    const sending = { method: 'POST', path, headers: { 'x-api-key': 'x' }, body, from };
    return client.send(sending, (_leave, onText) => onText(/data: /, resolve)).catch(() => undefined);
  });
  await inTime(Promise.all(begun), 'every stream has begun');
  return { answers, close: client.close };
}

const logOf = (output: string): Record<string, unknown>[] =>
  [...output.matchAll(/^\{.*\}$/gm)].map(([line]) => JSON.parse(line));

test('in Lambda, the platform says where to listen and names the caller in a header', async () => {
  const endpoint = { AWS_LAMBDA_HTTP_ENDPOINT: '127.0.0.1:0', HOST: '203.0.113.9', PORT: '1' };
  await using server = await startGatewayProcess({ ...settings(), ...endpoint, APP_URL: '' }, file);
  expect((await fetch(`${server.url}/v1/models`, { headers: { 'x-api-key': 'x' } })).status).toBe(500);
  const headers = { 'x-api-key': 'x', 'x-forwarded-for': 'me, 203.0.113.7' };
  expect((await fetch(`${server.url}/v1/models`, { headers })).status).toBe(200);
  // There the wallet's page is a separate function, as this one may not write keys.
  expect((await fetch(`${server.url}/cli`, { headers })).status).toBe(404);
  expect(server.errors()).toBe('');
});

test('wrong settings stop the start, with a line for each', async () => {
  const wrong = { KEYS_TABLE: '', BODY_BUDGET: '0', CLIENT_ADDRESS: 'x-real-ip', PORT: '65536' };
  const server = spawnGateway({ ...settings(), ...wrong }, file);
  expect(await server.ended).toBe(1);
  expect(server.errors().trim().split('\n')).toEqual([
    'PORT must be a whole number from 0 to 65535, 0 for any free port',
    'CLIENT_ADDRESS must be socket or x-forwarded-for',
    'BODY_BUDGET must be a whole number of MiB from 1 to 65536',
    'KEYS_TABLE is missing: the name of a DynamoDB table',
  ]);
});

test('names that are none stop the start; what starts, but not as one may think, is warned of', async () => {
  const unknown = spawnGateway({ ...settings(), UPSTREAM_API_KEY: 'k', UPSTREAM_API_KEYS: '' }, file);
  expect(await unknown.ended).toBe(1);
  expect(unknown.errors()).toBe('UPSTREAM_API_KEY is not a known setting: did you mean UPSTREAM_API_KEYS?\n');

  const bare = { UPSTREAM_API_KEYS: '', APP_URL: '', PRICE: '{}', UPSTREAM_NAMES: 'openai' };
  await using server = await startGatewayProcess({ ...settings(), ...bare }, file);
  server.signal('SIGTERM');
  expect(await server.ended).toBe(0);
  expect(server.errors().trim().split('\n')).toEqual([
    'warning: PRICE is not a setting and has no effect: did you mean PRICES?',
    expect.stringMatching(/^warning: without UPSTREAM_API_KEYS every request is refused/),
    expect.stringMatching(/^warning: openai is also hidden in code/),
    expect.stringMatching(/^warning: without APP_URL nobody can sign in at \/cli from another machine/),
  ]);
});

test('with a collector, the last spans leave before the process ends', async () => {
  await using receiver = await startSpanReceiver();
  const otel = {
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
  };
  await using server = await startGatewayProcess({ ...settings(), ...otel }, file);
  const response = await fetch(`${server.url}/v1/models`, { headers: { 'x-api-key': 'x' } });
  expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
  server.signal('SIGTERM');
  expect(await server.ended).toBe(0);
  expect(receiver.spans).toMatchObject([
    { name: 'GET /v1/models', resource: { 'service.name': 'svc', 'deployment.environment.name': 'test' } },
  ]);
  expect(server.errors()).toBe('');
});

/** Makes the process throw at SIGUSR2. */
function faultAtSignal() {
  const preload = join(folder, 'preload.mjs');
  writeFileSync(preload, 'process.on("SIGUSR2", () => { throw new TypeError("planted"); });');
  return { NODE_OPTIONS: `--import=${preload}` };
}

test('with METRICS_PORT, metrics are on a port of their own; LOG_METRICS=false leaves them out of the log', async () => {
  const variables = { METRICS_PORT: '0', LOG_METRICS: 'false', ...faultAtSignal() };
  await using server = await startGatewayProcess({ ...settings(), ...variables }, file);
  await server.says(/metrics at /);
  const metricsUrl = /metrics at (\S+)/.exec(server.output())?.[1] ?? '';
  const { answers, close } = await openStreams(server.url, '127.0.0.25', 2);
  const read = async (name: string, labels = {}) => readValue(await (await fetch(metricsUrl)).text(), name, labels);
  expect([await read('http_server_active_requests'), await read('gateway_open_streams')]).toEqual([2, 2]);
  expect((await fetch(`${server.url}/metrics`)).status).toBe(404);
  server.signal('SIGUSR2');
  await Promise.all(answers);
  close();
  expect(await server.ended).toBe(1);
  const lines = logOf(server.output());
  expect(lines).toContainEqual(expect.objectContaining({ message: 'uncaught exception' }));
  expect(lines.length).toBeGreaterThanOrEqual(3);
  for (const line of lines) expect(Object.keys(line).filter((name) => !/^[a-z]/.test(name))).toEqual([]);
  expect(server.errors()).toBe('');
});

test('a start checks the upstream, which delays nothing; in Lambda it does not', async () => {
  upstream.otherwise([silence]);
  await using server = await startGatewayProcess({ ...settings(), START_CHECK: 'true' }, file);
  // It serves while the upstream still says nothing.
  expect((await fetch(`${server.url}/v1/models`, { headers: { 'x-api-key': 'x' } })).status).toBe(200);
  const asked = upstream.requests.filter(({ method }) => method === 'GET').length;
  expect(asked).toBe(1);
  expect(server.output()).not.toMatch('upstream checked');

  upstream.otherwise(json(404, {}));
  await using checked = await startGatewayProcess({ ...settings(), START_CHECK: 'true' }, file);
  await checked.says(/upstream checked/);
  const found = { level: 'warn', upstream: 'UPSTREAM', reachable: true, speaks: 'none' };
  expect(logOf(checked.output())).toContainEqual(expect.objectContaining({ ...found, hint: expect.any(String) }));

  const before = upstream.requests.length;
  const lambda = { AWS_LAMBDA_HTTP_ENDPOINT: '127.0.0.1:0', START_CHECK: 'true' };
  await using inLambda = await startGatewayProcess({ ...settings(), ...lambda }, file);
  inLambda.signal('SIGTERM');
  expect(await inLambda.ended).toBe(0);
  expect(upstream.requests.length).toBe(before);
});

test('in Lambda there are no metrics, and a port that is taken stops the start', async () => {
  const lambda = { AWS_LAMBDA_HTTP_ENDPOINT: '127.0.0.1:0', METRICS_PORT: '0' };
  await using server = await startGatewayProcess({ ...settings(), ...lambda }, file);
  server.signal('SIGTERM');
  expect(await server.ended).toBe(0);
  expect(server.output()).not.toMatch('metrics at');

  await using first = await startGatewayProcess(settings(), file);
  const second = spawnGateway({ ...settings(), METRICS_PORT: String(first.port) }, file);
  expect(await second.ended).toBe(1);
  expect(second.errors()).toBe(`METRICS_PORT ${first.port} is taken: set METRICS_PORT to another one\n`);
});

test('credentials are found where a container provides them', async () => {
  const expiration = new Date(Date.now() + 3_600_000).toISOString();
  const keys = { AccessKeyId: 'OFTHECONTAINER', SecretAccessKey: 'secret', Token: 'token', Expiration: expiration };
  await using container = await startFakeService(answer(200, keys));
  await using store = await startFakeService(answer(200, {}));
  const { AWS_ACCESS_KEY_ID: _, AWS_SECRET_ACCESS_KEY: __, ...rest } = settings(store.url);
  await using server = await startGatewayProcess({ ...rest, AWS_CONTAINER_CREDENTIALS_FULL_URI: container.url }, file);
  await fetch(`${server.url}/v1/models`, { headers: { 'x-api-key': 'x' } });
  expect(store.requests[0]?.headers).toMatchObject({
    authorization: expect.stringMatching('Credential=OFTHECONTAINER/'),
    'x-amz-security-token': 'token',
  });
});

test('a stop with 128 open streams ends each with an error event, and refunds every one', async () => {
  await using server = await startGatewayProcess(settings(), file);
  const { answers, close } = await openStreams(server.url, '127.0.0.22', 128);
  expect(await standing('127.0.0.22')).toBe(128);
  // More lines than fit the pipe, and nobody reads them until everything else is over.
  const readOn = server.leaveUnread();
  server.signal('SIGTERM');
  for (const one of await Promise.all(answers)) expect(one?.text).toMatch(/"code":"service_unavailable"/);
  readOn();
  expect(await server.ended).toBe(0);
  close();
  const log = logOf(server.output());
  const refunded = log.filter((line) => line.refunded === true && line.reason === 'stopping').length;
  const left = log.filter(({ message }) => message === 'charge left standing').length;
  expect(refunded + left).toBe(128);
  // A refund that was given up may still have been written.
  expect(await standing('127.0.0.22')).toBeLessThanOrEqual(left);
  expect(server.errors()).toBe('');
}, 60_000);

test('a refund that can’t be written before the end is logged as a charge left standing', async () => {
  await using proxy = await startStoreProxy(dynamoDb.endpoint);
  await using server = await startGatewayProcess(settings(proxy.endpoint), file);
  const { answers, close } = await openStreams(server.url, '127.0.0.23', 3);
  proxy.spoil(() => 'silent');
  server.signal('SIGTERM');
  expect(await server.ended).toBe(0);
  for (const one of await Promise.all(answers)) expect(one?.text ?? '').not.toMatch(/not charged/);
  close();
  expect(logOf(server.output()).filter(({ message }) => message === 'charge left standing')).toHaveLength(3);
});

test('an uncaught exception is logged, and streams end as in a stop, with exit code 1', async () => {
  await using server = await startGatewayProcess({ ...settings(), ...faultAtSignal() }, file);
  const { answers, close } = await openStreams(server.url, '127.0.0.24', 2);
  server.signal('SIGUSR2');
  expect(await server.ended).toBe(1);
  for (const one of await Promise.all(answers)) expect(one?.text).toMatch(/"code":"service_unavailable"/);
  close();
  const log = logOf(server.output());
  expect(log).toContainEqual(
    expect.objectContaining({ level: 'error', message: 'uncaught exception', cause: 'TypeError', GatewayErrors: 1 }),
  );
  expect(server.output()).not.toMatch('planted');
});

test('it exits once nobody reads its log', async () => {
  await using server = await startGatewayProcess(settings(), file);
  server.closeOutput();
  // The answer's log line can't be written.
  expect((await fetch(`${server.url}/v1/models`, { headers: { 'x-api-key': 'x' } })).status).toBe(200);
  expect(await server.ended).toBe(1);
  expect(server.errors()).toBe('');
});

test('so it does if nobody reads even the first line of its start', async () => {
  const preload = join(folder, 'slow-names.cjs');
  const later = 'setImmediate(() => setImmediate(lookup, ...call))';
  writeFileSync(preload, `const dns = require('dns'); const { lookup } = dns; dns.lookup = (...call) => ${later};`);
  const variables = { HOST: 'localhost', DEPLOYED_COMMIT: 'a1b2c3d', NODE_OPTIONS: `--require=${preload}` };
  await using server = spawnGateway({ ...settings(), ...variables }, file);
  server.closeOutput();
  expect(await server.ended).toBe(1);
  expect(server.errors()).toBe('');
});
