import { afterAll, expect, test } from '@jest/globals';
import { answer, path, startPricedGateway } from '../support/priced-gateway.ts';
import { testRows } from '../support/test-rows.ts';

const gateway = await startPricedGateway();
afterAll(() => gateway[Symbol.asyncDispose]());

const image = { role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:,' } }] };

test('a model that the key may not use is a 403 before anything is charged, in each dialect', async () => {
  const key = await gateway.issueKey({ models: ['svc-vision'], limit: 0 });
  for (const at of [path, '/v1/responses', '/v1/messages', '/v1/messages/count_tokens']) {
    const refused = await gateway.ask(key, { model: 'opus', messages: [], input: 'x', max_tokens: 1 }, at);
    expect([at, refused.status, refused.headers.get('x-svc-error')]).toEqual([at, 403, 'model_not_allowed']);
  }
  const list = await fetch(`${gateway.url}/v1/models`, { headers: { 'x-api-key': key } });
  expect((await list.json()) as object).toMatchObject({ data: [{ id: 'svc-vision' }] });
  const other = await fetch(`${gateway.url}/v1/models/svc`, { headers: { 'x-api-key': key } });
  expect([other.status, await other.text()]).toEqual([404, expect.stringContaining('The model is svc-vision')]);
});

testRows([
  [['svc'], { model: 'gpt-5' }, "model is unknown: 'gpt-5'. Use svc."],
  [['svc'], {}, 'model is missing. Use svc.'],
  [
    ['svc'],
    { model: 'svc', messages: [image] },
    "messages[0].content[0] holds an image or a video, which svc can't see. Leave it out.",
  ],
  [
    ['svc-vision'],
    { model: 'svc', messages: [image] },
    "messages[0].content[0] holds an image or a video, which svc can't see. Use the model svc-vision.",
  ],
  [['svc-embedding'], { model: 'gpt-5' }, "model is unknown: 'gpt-5'. This key may use no model here."],
])('an error about a model names only models that the key may use', async (models, body, message) => {
  const refused = await gateway.ask(await gateway.issueKey({ models }), body);
  const { error } = (await refused.json()) as { error: { message: string } };
  expect([refused.status, error.message]).toEqual([400, expect.stringContaining(message)]);
});

testRows([
  ['models', ['svc', 'svc-vision']],
  ['fallbacks', [{ model: 'svc' }]],
  ['Route', 'fallback'],
])(
  'a member that makes routers choose another model is refused if the key’s models or money are limited',
  async (name, value) => {
    const body = { model: 'svc', messages: [], [name]: value };
    for (const key of [await gateway.issue(1_000_000), await gateway.issueKey({ models: ['svc'] })]) {
      for (const at of [path, '/v1/messages/count_tokens']) {
        const refused = await gateway.ask(key, body, at);
        const words = expect.stringContaining(`${name} can't be used`);
        expect([at, refused.status, await refused.text()]).toEqual([at, 400, words]);
      }
    }
    gateway.upstream.answer(answer);
    expect((await gateway.ask(await gateway.issueKey(), body)).status).toBe(200);
    gateway.upstream.answer(answer);
    expect((await gateway.ask(await gateway.issue(1_000_000), { ...body, [name]: null })).status).toBe(200);
  },
);
