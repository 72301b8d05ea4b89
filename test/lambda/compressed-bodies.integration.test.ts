import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, expect, test } from '@jest/globals';
import { json } from '../../local/upstream/script.ts';
import { startTestGateway } from '../support/gateway.ts';
import { testRows } from '../support/test-rows.ts';

const question = { model: 'svc', messages: [{ role: 'user', content: 'hé' }] };
const path = '/v1/chat/completions';

const gateway = await startTestGateway({ environment: { GUEST_LIMIT: '1000', BURST_LIMIT: '600' } });
gateway.upstream.otherwise(json(200, { id: 'x', choices: [] }));
afterAll(() => gateway[Symbol.asyncDispose]());

const send = (body: Uint8Array | string, headers: Record<string, string>) =>
  fetch(gateway.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': 'guest', ...headers },
    body,
  });
const remaining = (response: Response) => Number(response.headers.get('x-svc-remaining'));
const codeOf = (response: Response) => [response.status, response.headers.get('x-svc-error')];

const encoders = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync, zstd: zstdCompressSync };

testRows(Object.entries(encoders))(
  'a body in any encoding goes upstream decoded, and is a charged 400 that names it if it breaks off',
  async (encoding, encode) => {
    const text = JSON.stringify(question);
    const headers = { 'content-encoding': encoding };
    const good = await send(encode(text), { ...headers, 'content-type': 'application/octet-stream' });
    const sent = gateway.upstream.requests.at(-1);
    const resolved = text.replace('"svc"', '"acmecorp/thunder-70b-instruct"');
    expect([good.status, sent?.body.toString()]).toEqual([200, resolved]);
    expect(sent?.headers['content-encoding']).toBeUndefined();
    const broken = await send(encode(text).subarray(0, -3), headers);
    expect([...codeOf(broken), remaining(broken)]).toEqual([400, 'invalid_request', remaining(good) - 1]);
    expect(await broken.text()).toContain(encoding);
  },
);

test('an unknown encoding, or more than one, is a free 415 naming those accepted', async () => {
  const before = remaining(await send(JSON.stringify(question), {}));
  for (const encoding of ['compress', 'gzip, gzip']) {
    const response = await send('x', { 'content-encoding': encoding });
    expect([...codeOf(response), remaining(response)]).toEqual([415, 'unsupported_encoding', before]);
    expect(response.headers.get('accept-encoding')).toBe('identity, gzip, deflate, br, zstd');
  }
});

test('REQUEST_BODY_LIMIT holds for the body as it came and for what it is decoded to', async () => {
  await using roomy = await startTestGateway({ environment: { REQUEST_BODY_LIMIT: '8' } });
  roomy.upstream.otherwise(json(200, { id: 'x', choices: [] }));
  const sized = (size: number) => JSON.stringify(question).padEnd(size);
  const statusOf = async (body: Uint8Array | string, headers = {}) =>
    (await fetch(roomy.url + path, { method: 'POST', headers: { 'x-api-key': 'guest', ...headers }, body })).status;
  const limit = 8 * 1_048_576;
  expect(await statusOf(sized(limit - 1))).toBe(200); // one more byte in UTF-8
  expect(await statusOf(sized(limit))).toBe(413);
  expect(await statusOf(gzipSync(sized(limit - 1)), { 'content-encoding': 'gzip' })).toBe(200);
  expect(await statusOf(gzipSync(sized(limit)), { 'content-encoding': 'gzip' })).toBe(413);
});
