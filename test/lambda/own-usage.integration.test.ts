import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, describe, expect, test } from '@jest/globals';
import { formatAmount } from '../../lambda/budget/money.ts';
import { json, silence, until } from '../../local/upstream/script.ts';
import { answer, answerWith, body, cost, startPricedGateway } from '../support/priced-gateway.ts';

const gateway = await startPricedGateway();
afterAll(() => gateway[Symbol.asyncDispose]());

describe('GET /v1/usage', () => {
  test('returns what is spent, reserved and left, and what was lost with a process', async () => {
    const clock = { time: Date.UTC(2026, 5, 15, 12) };
    await using timed = await startPricedGateway({ now: () => clock.time });
    const key = await timed.issue(10_000, { label: 'ci', models: ['svc'], burst: 30 });
    timed.upstream.answer(answer, [silence]);
    await timed.ask(key);
    const waiting = timed.ask(key);
    await timed.upstream.arrival(1);
    const budget = {
      ...{ currency: 'USD', window: 'month', limit: '0.01', spent: '0.00003', reserved: '0.00156', unsettled: '0.00' },
      ...{ remaining: '0.00841', resets_at: '2026-07-01T00:00:00.000Z' },
      models: [{ id: 'svc', input_tokens: 5, output_tokens: 1, spent: '0.00003' }],
    };
    const id = expect.stringMatching(/^key_/);
    expect(await timed.usageOf(key)).toEqual({
      object: 'usage',
      requests: { limit: 1_000, used: 2, remaining: 998, resets_at: '2026-06-16T00:00:00.000Z' },
      burst: { limit: 30 },
      budget,
      key: { id, label: 'ci', expires_at: null, models: ['svc'] },
    });
    clock.time += 3_600_000;
    expect(await timed.usageOf(key)).toMatchObject({ budget: { ...budget, reserved: '0.00', unsettled: '0.00156' } });
    timed.upstream.answer(answer);
    const requestId = (await timed.ask(key)).headers.get('x-request-id');
    const lines = timed.log.filter(({ message }) => message === 'reservations lost');
    expect(lines).toMatchObject([{ requestId, key: id, count: 1, reserved: 0.00156, LostReservations: 1 }]);
    waiting.catch(() => {});
  });

  test('returns usage by model, including estimates, until the window ends', async () => {
    const clock = { time: Date.UTC(2026, 5, 30, 23) };
    await using timed = await startPricedGateway({ now: () => clock.time });
    const key = await timed.issue();
    const vision = body.replace('"svc"', '"svc-vision"');
    timed.upstream.answer(answer, answerWith(), answer, json(400, { error: {} }));
    for (const sent of [body, body, vision, body]) await timed.ask(key, sent);
    const own = { id: 'svc', input_tokens: 5 + 16, output_tokens: 1 + 1, spent: formatAmount(cost + 16 * 3 + 15) };
    const seen = { id: 'svc-vision', input_tokens: 5, output_tokens: 1 };
    const models = [own, expect.objectContaining(seen)];
    expect(await timed.usageOf(key)).toMatchObject({ budget: { models } });
    const waits = Promise.withResolvers<void>();
    timed.upstream.answer([until(waits.promise), ...answer]);
    const late = timed.ask(key);
    await timed.upstream.arrival(4);
    clock.time += 3_600_000;
    expect(await timed.usageOf(key)).toMatchObject({ budget: { spent: '0.00', models: [] } });
    timed.upstream.answer(answer);
    await timed.ask(key);
    waits.resolve();
    expect((await late).status).toBe(200);
    const anew = { id: 'svc', input_tokens: 5, output_tokens: 1, spent: '0.00003' };
    expect(await timed.usageOf(key)).toMatchObject({ budget: { models: [anew] } });
    const { client, quotaTable: TableName } = timed.dynamoDb;
    const { Items = [] } = await client.send(new ScanCommand({ TableName }));
    expect(Items.flatMap(Object.keys).filter((name) => /^t[ios]/.test(name))).toEqual(['tim678', 'tom678', 'tsm678']);
  });

  test('works for guests too', async () => {
    expect(await gateway.usageOf('guest')).toEqual({
      object: 'usage',
      requests: { limit: 3, used: 0, remaining: 3, resets_at: null },
      burst: { limit: 600 },
      ...{ budget: null, key: null },
    });
  });
});
