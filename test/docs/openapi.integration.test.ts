import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { allDialects } from '../../lambda/dialects/index.ts';
import type { Route } from '../../lambda/request/routes.ts';
import { sse, until } from '../../local/upstream/script.ts';
import { startRoomyDemoGateway } from '../sdk/sdk-gateway.ts';
import { readEvents } from '../support/client-view.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { wire } from '../support/wire.ts';
import type { DocumentedOperation } from './contract.ts';
import { contract, guest, inference, models, offersEmbeddings, send, sendInVain } from './probe.ts';

const streaming = inference.filter(({ keepAlive }) => keepAlive !== undefined);

describe('the document has what is served, and nothing else', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway({ environment: offersEmbeddings });
  });
  afterAll(() => gateway[Symbol.asyncDispose]());

  test('every route', () => {
    const endpoints = allDialects.flatMap((dialect) => dialect.endpoints);
    // A new kind of route does not type-check before it stands here.
    const served: Record<Route['kind'], readonly string[]> = {
      inference: endpoints.map(({ path }) => `POST ${path}`),
      usage: ['GET /v1/usage'],
      models: ['GET /v1/models'],
      model: ['GET /v1/models/{id}'],
      preflight: [],
      health: [], // of one engine only, for its operator
      notFound: [],
      refused: [],
    };
    const documented = [...inference, ...models].map(({ method, path }) => `${method} ${path}`);
    expect(documented.sort()).toEqual(Object.values(served).flat().sort());
  });

  test.each([...inference, ...models])('$method $path allows no other method', async (operation) => {
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
      if (method === operation.method) continue;
      expect(await sendInVain(gateway, operation, { method })).toBe('405 method_not_allowed');
    }
  });

  test.each(contract.operations.filter(({ method }) => method === 'OPTIONS'))('$method $path', async (operation) => {
    const headers = {
      origin: 'https://app.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'x-api-key',
    };
    expect((await send(gateway, operation, { headers })).status).toBe(204);
  });

  test.each(['/', '/v1', '/v1/completions', '/v1/messages/', '/v1/messages/batches'])('nothing at %s', async (path) => {
    const unknown = { path, method: 'GET', id: '', examples: {} };
    expect(await sendInVain(gateway, unknown, { headers: {} })).toBe('404 not_found');
  });
});

describe('successes', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startRoomyDemoGateway();
  });
  afterAll(() => gateway[Symbol.asyncDispose]());

  const shown = inference.flatMap((operation) =>
    Object.entries(operation.examples).map(([name, body]) => ({ path: operation.path, name, operation, body })),
  );
  test.each(shown)('$path: the example $name', async ({ operation, body }) => {
    expect(contract.accepts(operation, body)).toBe(true);
    const key = await gateway.issueKey();
    expect(await send(gateway, operation, { body, headers: { authorization: `Bearer ${key}` } })).toMatchObject({
      status: 200,
    });
  });

  test.each(models)('$path', async (operation) => {
    expect((await send(gateway, operation, { headers: { 'api-key': 'guest' } })).status).toBe(200);
  });

  test('origins that the operator listed', async () => {
    await using listed = await startTestGateway({ environment: { CORS_ORIGINS: 'https://app.example' } });
    for (const operation of models) {
      for (const origin of ['https://app.example', 'https://other.example']) {
        expect((await send(listed, operation, { headers: { ...guest, origin } })).status).toBe(200);
      }
    }
  });
});

describe('streams', () => {
  const firstEvent = ({ path }: DocumentedOperation) =>
    Object.values(wire).find((dialect) => dialect.path === path)?.events[0] ?? '';

  test.each(streaming)('$path: a broken one ends with an error', async (operation) => {
    await using gateway = await startTestGateway();
    gateway.upstream.answer(sse(firstEvent(operation)));
    const { status, body } = await send(gateway, operation, { body: operation.examples.stream });
    expect(status).toBe(200);
    const events = readEvents(body);
    expect(events).toHaveLength(2);
    expect(JSON.parse(events.at(-1)?.data ?? '')).toHaveProperty('error.message');
  });

  test.each(streaming)('$path: a silent one is kept alive', async (operation) => {
    await using gateway = await startTestGateway({ environment: { KEEP_ALIVE_INTERVAL: '0.05' } });
    const spoken = Promise.withResolvers<void>();
    gateway.upstream.answer([until(spoken.promise), ...sse(firstEvent(operation))]);
    const response = await gateway.post(operation.path, operation.examples.stream, guest);
    const { status, headers } = response;
    const pieces: string[] = [];
    for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      pieces.push(piece);
      spoken.resolve();
    }
    expect(contract.judge('POST', operation.path, { status, headers, body: pieces.join('') })).toEqual([]);
    expect(pieces[0]).toMatch(operation.keepAlive ?? 'a keep-alive');
  });
});

test('every documented success was seen', () => {
  expect(contract.unseen().filter((outcome) => / 2\d\d /.test(outcome))).toEqual([]);
});
