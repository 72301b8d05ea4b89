import { expect, test } from '@jest/globals';
import { html } from '../../local/upstream/script.ts';
import { personal, startWatchedGateway } from '../support/watched-gateway.ts';
import { canary, wire } from '../support/wire.ts';

const { path, question } = wire.responses;

// What went upstream is watched in the tests of every way in which that may end.
test('the log holds nothing that callers said, nor who they are, when the gateway refuses', async () => {
  await using watched = await startWatchedGateway({ environment: { GUEST_LIMIT: '5' } });
  const { gateway } = watched;
  const key = { ...personal, 'x-api-key': canary.clientKey };
  const attempts: readonly (readonly [string, unknown, Record<string, string>])[] = [
    [path, question, personal],
    [path, question, { ...personal, 'x-api-key': 'ltk_canary-of-a-key' }],
    [`/v1/${canary.prompt}`, question, key],
    [`${path}?key=${canary.clientKey}`, { ...question, model: canary.prompt }, key],
    [path, `{"model":"svc","${canary.prompt}`, key],
    [path, { ...question, messages: canary.prompt, input: { text: canary.prompt } }, key],
    [path, { ...question, stream: canary.prompt }, key],
    [path, { ...question, model: 'svc', [canary.prompt]: '['.repeat(3) }, { ...key, 'anthropic-beta': 'é canary' }],
    [path, question, key],
    [path, question, key],
  ];
  gateway.upstream.otherwise(html(422, `AcmeCorp says ${canary.upstreamBody}`));
  for (const [address, body, headers] of attempts) {
    const response = await gateway.post(address, body, headers);
    expect(await response.text()).not.toMatch(/canary-of-the-client-key|canary-of-a-key/);
    expect(response.status).toBeGreaterThanOrEqual(400);
  }
  await gateway.dynamoDb.close();
  expect((await gateway.post(path, question, key)).status).toBe(503);
  expect(gateway.log.length).toBeGreaterThan(attempts.length);
});
