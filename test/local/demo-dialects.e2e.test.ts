import { expect, test } from '@jest/globals';
import { spawnGateway, startGatewayProcess } from './gateway-process.ts';

test('with DEMO_DIALECTS=chat the demo speaks only chat, and everybody is served all the same', async () => {
  await using gateway = await startGatewayProcess({ DEMO_DIALECTS: 'chat', LOG_FORMAT: 'json' });
  expect(gateway.output()).toContain('the built-in demo, which speaks only chat: the rest is translated;');
  const post = async (path: string, body: object) => {
    const headers = { 'content-type': 'application/json', 'x-api-key': gateway.key };
    const response = await fetch(gateway.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
    return [response.status, await response.json()];
  };
  const messages = [{ role: 'user', content: 'Hello' }];
  expect(await post('/v1/responses', { model: 'svc', input: 'Hello' })).toMatchObject([200, { status: 'completed' }]);
  expect(await post('/v1/messages', { model: 'svc', max_tokens: 99, messages })).toMatchObject([
    200,
    { role: 'assistant' },
  ]);
  const counted = await post('/v1/messages/count_tokens', { model: 'svc', messages });
  expect(counted).toEqual([200, { input_tokens: expect.any(Number) }]);
  await gateway.says(/("translated":true.*){3}/s);
});

test('DEMO_DIALECTS that are none stop the start with a sentence', async () => {
  const gateway = spawnGateway({ DEMO_DIALECTS: 'prose' });
  expect(await gateway.ended).toBe(1);
  expect(gateway.errors()).toBe('DEMO_DIALECTS must be chat, and any of responses and messages, separated by commas\n');
});
