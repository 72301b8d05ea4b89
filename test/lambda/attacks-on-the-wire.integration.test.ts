import { afterAll, expect, test } from '@jest/globals';
import { json } from '../../local/upstream/script.ts';
import { startTestGateway } from '../support/gateway.ts';
import { testRows } from '../support/test-rows.ts';
import { wire } from '../support/wire.ts';
import { openRaw } from './engines/raw-client.ts';

const { path, question, answer } = wire.chat;
const body = JSON.stringify(question);
const plain = `Host: x\r\nx-api-key: guest\r\nContent-Type: application/json\r\n`;
const post = (headers: string, content: string) => `POST ${path} HTTP/1.1\r\n${plain}${headers}\r\n${content}`;
const chunked = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;
/** A smuggled request, in a place where only a confused server would find it. */
const hidden = post(`Content-Length: ${body.length}\r\n`, body);
const close = 'Connection: close\r\n';

// The local Function URL listens in the same way.
const gateway = await startTestGateway({
  engine: 'web',
  environment: { GUEST_LIMIT: '10000', BURST_LIMIT: '10000' },
});
gateway.upstream.otherwise(json(200, answer));
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  expect(gateway.faults).toEqual([]);
});

/** Sends raw bytes, and returns what comes back until the connection closes. */
async function exchange(bytes: string): Promise<string> {
  const client = await openRaw(gateway.url);
  client.send(bytes);
  return client.rest();
}

const error = '{"error":{"message":"[^"]+","type":"invalid_request_error","code":"invalid_request"}}$';
const figures = 'X-Svc-Remaining: 0\r\nX-Svc-Limit: 10000\r\n';
const refused = new RegExp(
  `^HTTP/1.1 400 Bad Request\r\n.*X-Svc-Error: invalid_request\r\n${figures}.*x-request-id: req_.*\r\n\r\n${error}`,
  's',
);
const both = `Content-Length: ${chunked('').length}\r\nTransfer-Encoding: chunked\r\n`;
const shapes: readonly (readonly [string, string, number, RegExp])[] = [
  ['two lengths', post('Content-Length: 0\r\nContent-Length: 9\r\n', hidden), 0, refused],
  ['length and chunks', post(both, chunked('') + hidden), 0, refused],
  ['a space before the colon', post('Content-Length : 0\r\n', hidden), 0, refused],
  ['a folded line', post('X-Note: a\r\n Content-Length: 9\r\nContent-Length: 0\r\n', hidden), 0, refused],
  ['a chunk with a wrong end', post('Transfer-Encoding: chunked\r\n', `1\r\nabc\r\n0\r\n\r\n${hidden}`), 0, refused],
  ['no host', `POST ${path} HTTP/1.1\r\nContent-Length: 0\r\n\r\n`, 0, refused],
  ['two hosts', post('host: y\r\nContent-Length: 0\r\n', ''), 0, refused],
  [
    'no host, at a path of messages',
    `POST ${wire.messages.path}?beta=true HTTP/1.1\r\nContent-Length: 0\r\n\r\n`,
    0,
    /^HTTP\/1\.1 400 .*{"type":"error","error":{"type":"invalid_request_error","message":"The request has no Host header\. [^"]+"}}$/s,
  ],
  [
    'one host, and another that is none',
    `GET /v1/models HTTP/1.1\r\nHost: host\r\nFrom: host\r\nx-api-key: guest\r\n${close}\r\n`,
    1,
    /^HTTP\/1\.1 200 /,
  ],
  [
    'no host, of a client older than that',
    `GET /v1/models HTTP/1.0\r\nx-api-key: guest\r\n\r\n`,
    1,
    /^HTTP\/1\.1 200 /,
  ],
  ['a tunnel', 'CONNECT 127.0.0.1:1 HTTP/1.1\r\nHost: x\r\n\r\n', 0, /^$/],
  ['64 KB of path', `GET /${'a'.repeat(65_536)} HTTP/1.1\r\nHost: x\r\n\r\n`, 0, /^(HTTP\/1\.1 431 .*)?$/s],
  ['300 headers', post(`${'a:\r\n'.repeat(300)}Content-Length: 0\r\n${close}`, ''), 1, /^HTTP\/1\.1 400 /],
  ['an encoding first', post(`Transfer-Encoding: gzip, chunked\r\n${close}`, chunked(body)), 1, /^HTTP\/1\.1 200 /],
  ['a request inside a body', post(`Content-Length: ${hidden.length}\r\n${close}`, hidden), 1, /^HTTP\/1\.1 400 /],
  [
    'a body behind a GET',
    `GET /v1/models HTTP/1.1\r\n${plain}${close}Content-Length: ${hidden.length}\r\n\r\n${hidden}`,
    1,
    /^HTTP\/1\.1 200 /,
  ],
  [
    'a key in a trailer',
    `POST ${path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTrailer: x-api-key\r\n${close}\r\n0\r\nx-api-key: guest\r\n\r\n`,
    1,
    /^HTTP\/1\.1 401 .*missing_api_key/s,
  ],
  [
    'another protocol',
    `GET /v1/models HTTP/1.1\r\n${plain}Upgrade: h2c\r\nConnection: Upgrade, close\r\n\r\n`,
    1,
    /^HTTP\/1\.1 200 /,
  ],
  ['a whole URL', `GET http://elsewhere.example/v1/models HTTP/1.1\r\n${plain}${close}\r\n`, 1, /^HTTP\/1\.1 200 /],
  ['another whole URL', `GET file:///etc/passwd HTTP/1.1\r\n${plain}${close}\r\n`, 1, /^HTTP\/1\.1 404 .*not_found/s],
  ['an asterisk', `OPTIONS * HTTP/1.1\r\n${plain}${close}\r\n`, 1, /^HTTP\/1\.1 204 (?!.*\r\nallow:)/is],
  [
    'a climbing path',
    `GET /v1/models/../etc HTTP/1.1\r\n${plain}${close}\r\n`,
    1,
    /^HTTP\/1\.1 404 .*model_not_found/s,
  ],
  ['a path of slashes', `GET //v1//models HTTP/1.1\r\n${plain}${close}\r\n`, 1, /^HTTP\/1\.1 404 .*not_found/s],
  ['a fragment', `GET /v1/models#/x HTTP/1.1\r\n${plain}${close}\r\n`, 1, /^HTTP\/1\.1 404 .*not_found/s],
  ['an expectation', post(`Expect: 100-continue\r\nContent-Length: ${body.length}\r\n${close}`, body), 1, / 200 OK/],
  [
    'one of a client that knows no interim answer',
    post(`Expect: 100-continue\r\nContent-Length: ${body.length}\r\n`, body).replace('HTTP/1.1', 'HTTP/1.0'),
    1,
    /^HTTP\/1\.1 200 /,
  ],
  ['an unknown one', post(`Expect: x\r\nContent-Length: ${body.length}\r\n${close}`, body), 1, /^HTTP\/1\.1 200 /],
  [
    'two requests in one go',
    post(`Content-Length: ${body.length}\r\n`, body) + post(`Content-Length: ${body.length}\r\n${close}`, body),
    2,
    /^HTTP\/1\.1 200 .*HTTP\/1\.1 200 /s,
  ],
];

// A server that closes before it has read everything resets the connection, which may lose its response.
test('each shape is parsed unambiguously, and does not affect later requests', async () => {
  for (const [name, bytes, runs, expected] of shapes) {
    const [lines, asked] = [gateway.log.length, gateway.upstream.requests.length];
    expect([name, await exchange(bytes)]).toEqual([name, expect.stringMatching(expected)]);
    expect([name, gateway.log.length - lines]).toEqual([name, runs]);
    expect(gateway.upstream.requests.length - asked).toBeLessThanOrEqual(runs);
    const { status } = await fetch(`${gateway.url}/v1/models`, { headers: { 'x-api-key': 'guest' } });
    expect([name, status]).toEqual([name, 200]);
  }
});

test('what follows a request with `connection: close` is ignored', async () => {
  const [lines, asked] = [gateway.log.length, gateway.upstream.requests.length];
  expect(await exchange(post(`Content-Length: ${body.length}\r\n${close}`, body) + hidden)).toMatch(/^HTTP\/1\.1 200 /);
  expect(gateway.log.length - lines).toBeLessThanOrEqual(1);
  expect(gateway.upstream.requests.length - asked).toBeLessThanOrEqual(1);
});

testRows([wire.chat, wire.responses, wire.messages])(
  'a body in very many tiny chunks is told so, in the shape of its dialect',
  async ({ path, question }) => {
    const chunks = JSON.stringify({ ...question, a: 'x'.repeat(60_000) }).replace(/./g, (byte) => `1\r\n${byte}\r\n`);
    const client = await openRaw(gateway.url);
    client.send(`POST ${path} HTTP/1.1\r\n${plain}Transfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`);
    const text = await client.until(/\}$/);
    client.socket.destroy();
    expect(text).toMatch(/^HTTP\/1\.1 400 .*connection: close/is);
    const answer = JSON.parse(text.slice(text.indexOf('{')));
    expect(answer.error).toMatchObject({
      type: 'invalid_request_error',
      message: expect.stringMatching(/tiny chunks/),
    });
    expect(answer.type).toBe(path === wire.messages.path ? 'error' : undefined);
  },
);
