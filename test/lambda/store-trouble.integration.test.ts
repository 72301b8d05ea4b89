import { describe, expect, test } from '@jest/globals';
import { html, json, reset, sse } from '../../local/upstream/script.ts';
import type { TestGateway } from '../support/gateway.ts';
import { metricsOf } from '../support/metrics.ts';
import { startWatchedGateway } from '../support/watched-gateway.ts';
import { canary, wire } from '../support/wire.ts';

const key = { 'x-api-key': canary.clientKey };

function expectLeftStanding({ log }: TestGateway): void {
  const [warning, line] = log;
  expect(warning).toMatchObject({ level: 'warn', message: 'charge left standing', operation: 'refund' });
  expect(metricsOf(warning ?? {})).toEqual({ ChargesLeftStanding: 1 });
  expect(line).toMatchObject({ level: 'error', refunded: false });
  expect(line).not.toHaveProperty('Refunds');
}

describe('while the store is down, a request', () => {
  const { path, question, answer, events } = wire.chat;

  test('is refused, and nothing is sent upstream', async () => {
    await using watched = await startWatchedGateway({ environment: { GUEST_LIMIT: '7' } });
    const { gateway } = watched;
    gateway.upstream.otherwise(json(200, answer));
    await gateway.dynamoDb.close();
    for (const stream of [false, true]) {
      const response = await gateway.post(path, { ...question, stream }, key);
      const header = (name: string) => response.headers.get(name);
      expect(response.status).toBe(503);
      expect(['x-svc-error', 'retry-after', 'x-svc-limit', 'x-svc-remaining'].map(header)).toEqual([
        'service_unavailable',
        '1',
        '7',
        '0',
      ]);
      expect(await response.json()).toMatchObject({ error: { message: expect.stringMatching('store') } });
    }
    expect(gateway.upstream.requests).toEqual([]);
  });

  test('that the upstream fails stays charged, for all to see', async () => {
    await using watched = await startWatchedGateway({ environment: { GUEST_LIMIT: '7' } });
    const { gateway } = watched;
    gateway.upstream.answer([gateway.dynamoDb.close, ...html(500)]);
    const response = await gateway.post(path, question, key);
    expect([response.status, response.headers.get('x-svc-remaining')]).toEqual([500, '6']);
    expect(await response.text()).not.toMatch('not charged');
    expectLeftStanding(gateway);
  });

  test('whose stream breaks ends with its error event, and stays charged', async () => {
    await using watched = await startWatchedGateway();
    const { gateway } = watched;
    gateway.upstream.answer([...sse(events[0] ?? ''), gateway.dynamoDb.close, reset]);
    const response = await gateway.post(path, { ...question, stream: true }, key);
    const text = await response.text();
    expect(text).toMatch(/"error".*Please try again.*\n\n$/);
    expect(text).not.toMatch('not charged');
    expectLeftStanding(gateway);
  });
});
