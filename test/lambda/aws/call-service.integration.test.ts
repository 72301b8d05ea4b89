import { once } from 'node:events';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { inspect } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { type Credentials, dynamoDbService, type Service, secretsManagerService } from '../../../lambda/aws/access.ts';
import { createAws, createCallService } from '../../../lambda/aws/call-service.ts';
import { ServiceError } from '../../../lambda/aws/repeat.ts';
import { makeCertificate } from '../../../local/certificate.ts';
import { startFakeSecrets } from '../../../local/fake-secrets.ts';
import { listenLocally } from '../../../local/listen-locally.ts';
import { answer, type FakeService, type Reply, signAsSdk, startFakeService } from '../../support/fake-service.ts';
import { stopTimers } from '../../support/stop-timers.ts';
import { testRows } from '../../support/test-rows.ts';
import { inTime } from '../../support/wait-until.ts';

const region = 'eu-central-1';
const credentials = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' };
const sessionToken = 'IQoJb3JpZ2luX2VjEXAMPLE//////////wEaDGV1LWNlbnRyYWwtMSJH+==';

interface Options {
  readonly service?: Service;
  readonly credentials?: () => Promise<Credentials>;
  readonly path?: string;
  readonly now?: () => number;
}

/** A client with minimal back-off, and how often it has backed off. */
function createCaller({ url }: Pick<FakeService, 'url'>, options: Options = {}) {
  const { service = dynamoDbService, path = '', now = Date.now } = options;
  const pauses = { count: 0 };
  const random = () => {
    pauses.count += 1;
    return 0;
  };
  const environment = { [service.endpointVariable]: url + path };
  const access = { region, credentials: options.credentials ?? (async () => credentials), environment };
  return { call: createCallService(service, access, { now, random }), pauses };
}

/** The last request is signed as the SDK would sign it. */
async function expectSigned({ requests }: FakeService, credentials: Credentials, { name } = dynamoDbService) {
  const request = requests.at(-1);
  if (!request) throw new Error('nothing was sent');
  const expected = await signAsSdk(request, { service: name, region, credentials });
  expect(request.headers.authorization).toBe(expected);
  const signed = /SignedHeaders=([^,]+)/.exec(expected ?? '')?.[1]?.split(';');
  expect(signed).toEqual(expect.arrayContaining(['content-type', 'host', 'x-amz-date', 'x-amz-target']));
}

const fine = answer(200, { Item: { pk: { S: 'there' } } });
const hangUp: Reply = (_response, { socket }) => socket.destroy();

describe('a request', () => {
  test('is as the service expects it', async () => {
    await using service = await startFakeService(fine);
    const { call } = createCaller(service);
    expect(await call('GetItem', { TableName: 'täble' })).toEqual({ Item: { pk: { S: 'there' } } });
    const [{ method, path, headers, body } = {}] = service.requests;
    expect({ method, path, body }).toEqual({ method: 'POST', path: '/', body: '{"TableName":"täble"}' });
    expect(headers).toMatchObject({
      host: new URL(service.url).host,
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': 'DynamoDB_20120810.GetItem',
      'content-length': '22',
    });
    expect(headers).not.toHaveProperty('x-amz-security-token');
  });

  testRows<Options>([
    { service: secretsManagerService },
    { credentials: async () => ({ ...credentials, sessionToken }) },
    { path: "/größer than (this)/it's%20me*" },
  ])('is signed as the SDK signs it', async (options) => {
    await using service = await startFakeService(fine);
    const { call } = createCaller(service, options);
    await call('GetItem', { text: 'größer \u{1f642}' });
    await expectSigned(service, (await options.credentials?.()) ?? credentials, options.service);
  });

  test('is signed with the day and the credentials of the moment when its call began, at each attempt', async () => {
    await using service = await startFakeService(fine, fine, answer(500, {}), fine);
    const [first, second] = [credentials, { ...credentials, secretAccessKey: 'second' }];
    const moments = [
      { time: Date.UTC(2015, 7, 30, 23, 59), given: [first] },
      { time: Date.UTC(2015, 7, 31), given: [first] },
      { time: Date.UTC(2015, 7, 31), given: [second] },
    ];
    let moment = moments[0];
    const current = async () => moment?.given.shift() ?? Promise.reject(new Error('asked twice'));
    const { call } = createCaller(service, { now: () => moment?.time ?? 0, credentials: current });
    for (const used of [first, first, second]) {
      moment = moments.shift();
      await call('GetItem', {});
      await expectSigned(service, used);
    }
  });
});

describe('a call is retried after a pause', () => {
  const cut: Reply = (response, { socket }) => {
    response.writeHead(200, { 'content-length': 100 }).write('{"Item":');
    setImmediate(() => socket.destroy());
  };
  const anotherProtocol: Reply = (response) => response.writeHead(101, { connection: 'upgrade', upgrade: 'x' }).end();

  testRows<[string, Reply]>([
    ['it is lost', hangUp],
    ['its answer is cut', cut],
    ['its response is not JSON', answer(200, '<html>')],
    ['it meets another protocol', anotherProtocol],
    ['it meets a 500 of another form', answer(500, { __type: { toString: 1 }, message: { toString: 1 } })],
    ['its credentials have expired', answer(400, { __type: 'ExpiredTokenException' })],
    ['it is throttled', answer(400, { __type: 'com.amazonaws.dynamodb.v20120810#ThrottlingException' })],
  ])('twice and not a third time, whatever the failure', async (_name, trouble) => {
    await using service = await startFakeService(trouble, trouble, fine);
    const { call, pauses } = createCaller(service);
    expect(await call('GetItem', { some: 'input' })).toEqual({ Item: { pk: { S: 'there' } } });
    const attempts = [1, 2, 3].map((number) => `attempt=${number}; max=3`);
    expect(service.requests.map(({ headers }) => headers['amz-sdk-request'])).toEqual(attempts);
    expect(new Set(service.requests.map(({ body }) => body))).toEqual(new Set(['{"some":"input"}']));
    expect(pauses.count).toBe(2);

    await using broken = await startFakeService(trouble);
    await expect(createCaller(broken).call('GetItem', {})).rejects.toBeInstanceOf(ServiceError);
    expect(broken.requests).toHaveLength(3);
  });
});

test('a refused call is not retried', async () => {
  const type = 'com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException';
  const there = { Item: { pk: { S: 'there' } } };
  await using service = await startFakeService(answer(400, { __type: type, message: 'told why', ...there }));
  await expect(createCaller(service).call('GetItem', {})).rejects.toMatchObject({
    ...{ name: 'ConditionalCheckFailedException', message: 'told why', status: 400, details: there },
  });
  expect(service.requests).toHaveLength(1);
});

describe('a wrong clock', () => {
  const tooLate = {
    __type: 'com.amazon.coral.service#InvalidSignatureException',
    message: 'Signature expired: now is later',
  };
  const tooEarly = { ...tooLate, message: 'Signature not yet current: still later' };
  const serviceTime = Date.UTC(2026, 10, 21, 12);
  const told =
    (status: number, body: object, date: string | undefined): Reply =>
    (response) => {
      response.sendDate = false;
      if (date) response.setHeader('date', date);
      response.writeHead(status).end(JSON.stringify(body));
    };
  const date = new Date(serviceTime).toUTCString();
  const datesOf = ({ requests }: FakeService) => requests.map(({ headers }) => headers['x-amz-date']);

  testRows([
    [-3_600_000, tooLate],
    [3_600_000, tooEarly],
    [86_400_000, { __type: 'RequestTimeTooSkewed' }],
  ])('is corrected by the response’s date, for this call and later ones', async (error, refusal) => {
    await using service = await startFakeService(told(403, refusal, date), fine);
    const { call } = createCaller(service, { now: () => serviceTime + error });
    expect(await call('GetItem', {})).toEqual({ Item: { pk: { S: 'there' } } });
    await call('GetItem', {});
    const wrong = new Date(serviceTime + error).toISOString().replace(/[-:]|\.\d+/g, '');
    expect(datesOf(service)).toEqual([wrong, '20261121T120000Z', '20261121T120000Z']);
  });

  const wrongKey = { ...tooLate, message: 'The request signature we calculated does not match' };
  testRows([
    // A response without a date corrects nothing.
    [told(403, tooLate, undefined), 3],
    [told(403, wrongKey, date), 1],
  ])('is not blamed for a signature by another key', async (reply, attempts) => {
    await using service = await startFakeService(reply);
    const refused = createCaller(service, { now: () => 0 }).call('GetItem', {});
    await expect(refused).rejects.toMatchObject({ name: 'InvalidSignatureException' });
    expect(datesOf(service)).toEqual(Array(attempts).fill('19700101T000000Z'));
  });
});

describe('a connection', () => {
  test('that was closed while idle is replaced at once', async () => {
    await using service = await startFakeService(fine, hangUp, fine);
    const { call, pauses } = createCaller(service);
    await call('GetItem', {});
    expect(await call('GetItem', {})).toEqual({ Item: { pk: { S: 'there' } } });
    const [first, second, third] = service.requests.map(({ socket }) => socket);
    expect([first === second, second === third, pauses.count]).toEqual([true, false, 0]);
  });

  test('is kept alive and reused, but does not keep the process alive', async () => {
    const countActive = () => process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
    const inUse: number[] = [];
    await using service = await startFakeService((response, request) => {
      request.socket.unref();
      inUse.push(countActive());
      fine(response, request);
    });
    const { call } = createCaller(service);
    for (let count = 0; count < 3; count += 1) await call('GetItem', {});
    await nextTurn();
    expect(new Set(service.requests.map(({ socket }) => socket)).size).toBe(1);
    expect(countActive()).toBe(Number(inUse.at(-1)) - 1);
  });

  test('that breaks during a response does not count as closed while idle', async () => {
    const cut: Reply = (response, { socket }) => {
      response.writeHead(200, { 'content-length': 100 }).write('{', () => socket.destroy());
    };
    await using service = await startFakeService(fine, cut, fine);
    const { call, pauses } = createCaller(service);
    await call('GetItem', {});
    await call('GetItem', {});
    const [first, second] = service.requests.map(({ socket }) => socket);
    expect([first === second, pauses.count]).toEqual([true, 1]);
  });

  test('over https needs a trusted certificate, and resumes its TLS session', async () => {
    const certificate = makeCertificate();
    const trusted = getCACertificates('default');
    const resumed: boolean[] = [];
    const server = createHttpsServer(certificate, (_, response) => response.setHeader('connection', 'close').end('{}'));
    server.on('secureConnection', (socket) => resumed.push(socket.isSessionReused()));
    const { url, close } = await listenLocally(server);
    const { call } = createCaller({ url: url.replace('http:', 'https:') });
    try {
      await expect(call('GetItem', {})).rejects.toMatchObject({
        code: 'DEPTH_ZERO_SELF_SIGNED_CERT',
        inDoubt: false,
      });
      setDefaultCACertificates([certificate.cert]);
      for (let count = 0; count < 2; count += 1) expect(await call('GetItem', {})).toEqual({});
      expect(resumed.slice(-2)).toEqual([false, true]);
    } finally {
      setDefaultCACertificates(trusted);
      await close();
    }
  });
});

describe('a call that takes too long', () => {
  testRows([
    ['before an answer', () => {}],
    ['in the middle of one', (response) => response.writeHead(200).write('{')],
  ] satisfies [string, Reply][])('leaves no connection open, whenever that is', async (_name, reply: Reply) => {
    const asked = Promise.withResolvers<void>();
    await using service = await startFakeService((response, request) => {
      reply(response, request);
      asked.resolve();
    });
    using timers = stopTimers();
    const given = createCaller(service)
      .call('GetItem', {})
      .catch((error: unknown) => error);
    await inTime(asked.promise, 'the service is asked');
    const closed = service.requests.map(({ socket }) => once(socket, 'close'));
    timers.pass(2_000);
    await inTime(Promise.all(closed), 'the connection of the call is closed');
    expect(await inTime(given, 'the call fails')).toMatchObject({ name: 'TooSlow', inDoubt: true });
    expect(service.requests).toHaveLength(1);
  });
});

describe('a call without a connection is never in doubt', () => {
  const outcomeOf = (url: string) =>
    createCaller({ url })
      .call('GetItem', {})
      .catch((error: unknown) => error);
  const startTcp = async (onConnection: (socket: Socket) => unknown) => {
    const server = createTcpServer((socket) => void onConnection(socket.on('error', () => {}).resume()));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return { url, [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())) };
  };

  test('if nobody listens', async () => {
    const service = await startFakeService(fine);
    await service[Symbol.asyncDispose]();
    expect(await outcomeOf(service.url)).toMatchObject({ code: 'ECONNREFUSED', inDoubt: false });
  });

  test('if it is cut before it is encrypted', async () => {
    await using service = await startTcp((socket) => socket.destroy());
    expect(await outcomeOf(service.url)).toMatchObject({ code: 'ECONNRESET', inDoubt: false });
  });

  test('if it takes too long until it is', async () => {
    const accepted = Promise.withResolvers<void>();
    await using service = await startTcp(() => accepted.resolve());
    using timers = stopTimers();
    const outcome = outcomeOf(service.url);
    await inTime(accepted.promise, 'the connection is accepted');
    timers.pass(2_000);
    expect(await inTime(outcome, 'the call fails')).toMatchObject({ name: 'TooSlow', inDoubt: false });
  });
});

test('a secret is read with its previous version, which is empty if it was never rotated', async () => {
  const secrets = await startFakeSecrets({ fresh: 'one', replaced: 'two', 'replaced (previous)': 'one' });
  const environment = { AWS_ENDPOINT_URL_SECRETS_MANAGER: secrets.url };
  const access = { region, credentials: async () => credentials, environment };
  const { readSecret: read } = createAws(access, { now: Date.now, random: Math.random });
  const texts = ['replaced', 'fresh'].map((id) => Promise.all([read(id), read(id, 'previous')]));
  expect(await Promise.all(texts)).toEqual([
    ['two', 'one'],
    ['one', ''],
  ]);
  await expect(read('missing')).rejects.toThrow('no such secret');
  await secrets.close();
});

test('no error contains the credentials of a request', async () => {
  const quote: Reply = (response, { headers }) =>
    answer(403, {
      __type: 'InvalidSignatureException',
      message: `The Canonical String should have been ${JSON.stringify(headers)} ${credentials.secretAccessKey}`,
    })(response, { headers } as Parameters<Reply>[1]);
  const secret = { ...credentials, sessionToken };
  for (const reply of [quote, hangUp, answer(500, ''), answer(200, 'x')]) {
    await using service = await startFakeService(reply);
    const error: unknown = await createCaller(service, { credentials: async () => secret })
      .call('GetItem', {})
      .catch((thrown) => thrown);
    const shown = inspect(error, { depth: Number.POSITIVE_INFINITY, showHidden: true });
    expect(shown).toMatch(/InvalidSignatureException|NoAnswer|UnknownError/);
    expect(shown).not.toContain(credentials.secretAccessKey);
    expect(shown).not.toContain(sessionToken);
  }
});
