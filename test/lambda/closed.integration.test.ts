import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { networkId, networkOf } from '../../lambda/identity/network.ts';

import { keyOf } from '../../lambda/settings/secrets.ts';
import { json } from '../../local/upstream/script.ts';

import { settingsWith, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { testRows } from '../support/test-rows.ts';

let gateway: TestGateway;
let key: string;
beforeAll(async () => {
  const environment = { ACCESS: 'keys', GUEST_LIMIT: '5', APP_URL: 'https://app.example' };
  gateway = await startTestGateway({ environment });
  key = await gateway.issueKey();
  const { NETWORK_SALT } = settingsWith(gateway.upstream, gateway.dynamoDb);
  const network = networkId(networkOf('127.0.0.1') ?? '', keyOf(NETWORK_SALT));
  await gateway.keys.link(network, { member: 'member', linkedAt: Date.now(), expiresAt: Date.now() + 3_600_000 });
});
afterAll(async () => {
  expect(gateway.faults).toEqual([]);
  await gateway[Symbol.asyncDispose]();
});

const question = { model: 'svc', messages: [{ role: 'user', content: 'Who are you?' }], max_tokens: 5 };
const askFor = 'Ask the operator for a key.';

/** How a request is refused, and the figures beside it. */
async function refusalOf(response: Response) {
  const { error } = (await response.json()) as { error: { message: string } };
  const { headers, status } = response;
  const figures = ['x-svc-limit', 'x-svc-remaining'].map((name) => headers.get(name));
  return [status, headers.get('x-svc-error'), figures.join('/'), error.message];
}

testRows(['chat/completions', 'responses', 'messages', 'messages/count_tokens'])(
  'with ACCESS=keys, whatever GUEST_LIMIT says, no key and a placeholder are refused, though the network is linked',
  async (path) => {
    const guest = await refusalOf(await gateway.post(`/v1/${path}`, question, { 'x-api-key': 'guest' }));
    const message = `Guest access is switched off: a real API key is needed. ${askFor}`;
    expect(guest).toEqual([401, 'invalid_api_key', '0/0', message]);
    const nobody = await refusalOf(await gateway.post(`/v1/${path}`, question));
    const advice = expect.stringMatching(/^No API key: send one in .* Ask the operator for a key\.$/);
    expect(nobody).toEqual([401, 'missing_api_key', '0/0', advice]);
  },
);

test('with ACCESS=keys a key is answered as ever', async () => {
  gateway.upstream.answer(json(200, {}));
  const headers = { 'x-api-key': key };
  const response = await fetch(`${gateway.url}/v1/models`, { headers });
  expect([response.status, response.headers.get('x-svc-limit')]).toEqual([200, '50']);
  expect((await gateway.post('/v1/chat/completions', question, headers)).status).toBe(200);
});
