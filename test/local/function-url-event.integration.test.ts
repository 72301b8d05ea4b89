import { expect, test } from '@jest/globals';
import type { LambdaFunctionURLEvent } from 'aws-lambda';
import type { LocalContext, StreamingHandler } from '../../local/function-url.ts';
import { exchange, withServer } from './local-server.ts';

interface Call {
  readonly event: LambdaFunctionURLEvent;
  readonly context: LocalContext;
}

/** The calls of a handler that requests reach. */
async function callsOf(send: (server: Parameters<Parameters<typeof withServer>[1]>[0]) => Promise<unknown>) {
  const calls: Call[] = [];
  const handler: StreamingHandler = async (event, stream, context) => {
    calls.push({ event, context });
    await new Promise<void>((resolve) => stream.end('ok', resolve));
  };
  await withServer(handler, async (server) => {
    await send(server);
  });
  return calls;
}

const eventsOf = async (...parameters: Parameters<typeof callsOf>) =>
  (await callsOf(...parameters)).map(({ event }) => event);

test('the event has the shape of a Function URL event', async () => {
  const before = Date.now();
  const head = [
    'GET /v1/models/a%2Fb?x=1&y=a%20b&x=2 HTTP/1.1',
    'Host: localhost:1234',
    'User-Agent: probe/1',
    'X-Twice: one',
    'x-twice: two',
    'Cookie: a=1; b=2',
    'X-Forwarded-For: 203.0.113.7',
    'Connection: close',
    '\r\n',
  ].join('\r\n');
  const [call] = await callsOf((server) => exchange(server, head));
  const path = '/v1/models/a%2Fb';
  expect(call?.event).toEqual({
    ...{ version: '2.0', routeKey: '$default', rawPath: path, rawQueryString: 'x=1&y=a%20b&x=2' },
    ...{ cookies: ['a=1', 'b=2'], queryStringParameters: { x: '1,2', y: 'a b' }, isBase64Encoded: false },
    headers: {
      ...{ host: 'localhost:1234', 'user-agent': 'probe/1', 'x-twice': 'one,two' },
      ...{ 'x-forwarded-for': '203.0.113.7', connection: 'close' },
    },
    requestContext: {
      ...{ accountId: 'anonymous', apiId: 'local', domainName: 'localhost', domainPrefix: 'localhost' },
      http: { method: 'GET', path, protocol: 'HTTP/1.1', sourceIp: '127.0.0.1', userAgent: 'probe/1' },
      ...{ requestId: call?.context.awsRequestId, routeKey: '$default', stage: '$default' },
      time: expect.stringMatching(/^\d\d\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d:\d\d \+0000$/),
      timeEpoch: expect.any(Number),
    },
  });
  expect(call?.event.requestContext.timeEpoch).toBeGreaterThanOrEqual(before);
  const timeLeft = call?.context.getRemainingTimeInMillis() ?? 0;
  expect([timeLeft > 800_000, timeLeft <= 900_000]).toEqual([true, true]);
});

const euro = Buffer.from('{"a":"€"}');
const broken = Buffer.from([0x7b, 0xff, 0x7d]);
test.each([
  ['application/json', euro, false],
  ['Application/JSON; charset=utf-8', euro, false],
  ['text/plain', euro, false],
  ['application/xml', euro, false],
  ['application/javascript', euro, false],
  ['application/json', broken, true],
  ['application/octet-stream', euro, true],
  ['application/x-www-form-urlencoded', euro, true],
  ['image/png', broken, true],
])('%s %j: base64 %j', async (contentType, body, isBase64Encoded) => {
  const headers = { 'content-type': contentType };
  const [event] = await eventsOf(({ url }) => fetch(url, { method: 'POST', headers, body }));
  expect(event).toMatchObject({ isBase64Encoded, body: body.toString(isBase64Encoded ? 'base64' : 'utf8') });
});

const chunks = [...'{"a":1}'].map((letter) => `1\r\n${letter}\r\n`).join('');
test.each([
  ['without a content type, in base64', 'Content-Length: 2\r\n\r\nhi', { body: 'aGk=', isBase64Encoded: true }],
  ['that is empty, as none', 'Content-Length: 0\r\n\r\n', { body: undefined, isBase64Encoded: false }],
  [
    'in chunks, as a whole',
    `Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`,
    { body: '{"a":1}', isBase64Encoded: false },
  ],
])('a body %s', async (_what, rest, { body, isBase64Encoded }) => {
  const [event] = await eventsOf((server) =>
    exchange(server, `POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${rest}`),
  );
  expect([event?.body, event?.isBase64Encoded]).toEqual([body, isBase64Encoded]);
});

const limit = 6_291_456;

test('a body at the limit of 6 MiB arrives whole, and a longer one with just one byte more', async () => {
  const headers = { 'content-type': 'application/json' };
  const events = await eventsOf(async ({ url }) => {
    for (const size of [limit, limit + 1, 3 * limit]) {
      const response = await fetch(url, { method: 'POST', headers, body: Buffer.alloc(size, 'x') });
      expect(await response.text()).toBe('ok');
    }
  });
  expect(events.map(({ body }) => body?.length)).toEqual([limit, limit + 1, limit + 1]);
});

test('a body over the limit is answered even if the client sends it all before it reads, and the connection stays open', async () => {
  const head = `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${4 * limit}\r\n\r\n`;
  const next = 'GET /next HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
  const events = await eventsOf(async (server) => {
    const answers = await exchange(server, head + 'x'.repeat(4 * limit) + next);
    expect(answers.match(/HTTP\/1.1 200 OK/g)).toHaveLength(2);
  });
  expect(events.map(({ rawPath }) => rawPath)).toEqual(['/', '/next']);
});
