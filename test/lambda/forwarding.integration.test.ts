import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterAll, expect, test } from '@jest/globals';
import { json } from '../../local/upstream/script.ts';
import { dialectNames, loadFixtures } from '../support/fixtures.ts';
import { startTestGateway } from '../support/gateway.ts';
import { testRows } from '../support/test-rows.ts';
import { inTime } from '../support/wait-until.ts';
import { wire } from '../support/wire.ts';

const gateway = await startTestGateway({ environment: { BURST_LIMIT: '600', GUEST_LIMIT: '1000' } });
gateway.upstream.otherwise(json(200, { type: 'message', choices: [], output: [] }));
afterAll(() => gateway[Symbol.asyncDispose]());

async function send(path: string, body: string): Promise<string | undefined> {
  const response = await gateway.post(path, body, { 'x-api-key': 'guest' });
  expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
  return gateway.upstream.requests.at(-1)?.body.toString();
}

testRows(dialectNames)('what goes upstream is the body byte for byte, except its model', async (dialectName) => {
  const exact = loadFixtures(dialectName).find(({ file }) => file === 'requests/exact-bytes.json');
  const body = exact?.bytes.toString() ?? '';
  expect(body).toContain('9007199254740993');
  const sent = body.replace('"model":"svc"', '"model":"acmecorp/thunder-70b-instruct"');
  expect(await send(wire[dialectName].path, body)).toBe(sent);
  expect(gateway.upstream.requests.at(-1)?.path).toBe(wire[dialectName].path);
});

// Wherever a long text is cut on its way, in one of the two it is cut between the halves of a character.
const long = ['', 'x'].map(
  (before) => `{"model":"svc","messages":[{"role":"user","content":"${before}${'😀'.repeat(700_000)}"}]}`,
);
const resolved = (body: string) => body.replace('"svc"', '"acmecorp/thunder-70b-instruct"');

testRows(long)('a body that is long arrives whole, every half character beside its other half', async (body) => {
  expect((await send(wire.chat.path, body)) === resolved(body)).toBe(true);
});

test('the answer of an upstream that refuses a long body without reading it is used, and its connection closed', async () => {
  const answer = 'HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\n\r\n';
  const upstream = createServer((socket) => {
    socket.unref().on('error', () => {});
    socket.once('readable', () => socket.write(answer));
  }).unref();
  const connected: Promise<Socket[]> = once(upstream.listen(0, '127.0.0.1'), 'connection');
  await once(upstream, 'listening');
  const { port } = upstream.address() as AddressInfo;
  await using gateway = await startTestGateway({ environment: { UPSTREAM_BASE_URL: `http://127.0.0.1:${port}/v1` } });
  const messages = [{ role: 'user', content: 'x'.repeat(6_000_000) }];
  const response = await gateway.post(wire.chat.path, { model: 'svc', messages }, { 'x-api-key': 'guest' });
  expect([response.status, response.headers.get('x-svc-error')]).toEqual([413, 'request_too_large']);
  const [socket] = await inTime(connected, 'the upstream is called');
  const closed = new Promise((resolve) => socket?.once('close', resolve).resume());
  await inTime(closed, 'the connection to the upstream is closed');
});
