import { afterAll, expect } from '@jest/globals';
import { json } from '../../local/upstream/script.ts';
import { dialectNames, loadFixtures } from '../support/fixtures.ts';
import { startTestGateway } from '../support/gateway.ts';
import { testRows } from '../support/test-rows.ts';
import { wire } from '../support/wire.ts';

const gateway = await startTestGateway({ environment: { BURST_LIMIT: '600', GUEST_LIMIT: '1000' } });
gateway.upstream.otherwise(json(200, { type: 'message', choices: [], output: [] }));
afterAll(() => gateway[Symbol.asyncDispose]());

async function send(path: string, body: string): Promise<string | undefined> {
  const response = await gateway.post(path, body, { 'x-api-key': 'guest' });
  expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
  return gateway.upstream.requests.at(-1)?.body.toString();
}

testRows(dialectNames)('the body is passed through byte for byte, except its model', async (dialectName) => {
  const exact = loadFixtures(dialectName).find(({ file }) => file === 'requests/exact-bytes.json');
  const body = exact?.bytes.toString() ?? '';
  expect(body).toContain('9007199254740993');
  const sent = body.replace('"model":"svc"', '"model":"acmecorp/thunder-70b-instruct"');
  expect(await send(wire[dialectName].path, body)).toBe(sent);
  expect(gateway.upstream.requests.at(-1)?.path).toBe(wire[dialectName].path);
});

// Wherever a long text is split into chunks, one of these two is split inside a surrogate pair.
const long = ['', 'x'].map(
  (before) => `{"model":"svc","messages":[{"role":"user","content":"${before}${'😀'.repeat(700_000)}"}]}`,
);
const resolved = (body: string) => body.replace('"svc"', '"acmecorp/thunder-70b-instruct"');

testRows(long)('a long body arrives complete, with every surrogate pair intact', async (body) => {
  expect((await send(wire.chat.path, body)) === resolved(body)).toBe(true);
});
