import { expect, test } from '@jest/globals';
import { answer, startPricedGateway } from '../support/priced-gateway.ts';
import { chargesIn } from '../support/quota.ts';

test('SPEND_LIMIT is measured as it is used up, and then refuses before the charge', async () => {
  const clock = { time: Date.UTC(2026, 5, 15, 12) };
  await using limited = await startPricedGateway({ environment: { SPEND_LIMIT: '0.00015' }, now: () => clock.time });
  const key = await limited.issueKey();
  limited.upstream.otherwise(answer);
  const ask = () => {
    clock.time += 10_001;
    return limited.ask(key);
  };
  for (let count = 0; count < 5; count += 1) expect((await ask()).status).toBe(200);
  const charged = await chargesIn(limited);
  const refused = await ask();
  expect([refused.status, ...['retry-after', 'x-should-retry'].map((name) => refused.headers.get(name))]).toEqual([
    ...[503, String(12 * 3_600 - 60), 'false'],
  ]);
  expect(((await refused.json()) as { error: { message: string } }).error.message).toBe(
    'The gateway has spent as much as it may on one day. This request was not charged. Try again after 2026-06-16T00:00:00Z.',
  );
  expect(await chargesIn(limited)).toBe(charged);
  expect(limited.log.flatMap(({ SpendShare }) => SpendShare ?? [])).toEqual([0, 20, 40, 60, 80, 100]);
  // The operator wants this, so it is not a failure of the gateway.
  expect(limited.log.at(-1)).toMatchObject({ level: 'info', reason: 'spend_limit' });
  expect(limited.log.at(-1)).not.toHaveProperty('GatewayErrors');
  const count = await limited.ask(key, { model: 'svc', messages: [] }, '/v1/messages/count_tokens');
  expect(count.status).toBe(200); // counting is free
  clock.time += 86_400_000;
  expect((await ask()).status).toBe(200);
});
