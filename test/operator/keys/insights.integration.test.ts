import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readInsights } from '../../../operator/keys/token-log.ts';
import { answer, type Reply, startFakeService } from '../../support/fake-service.ts';

const variables = { AWS_REGION: 'eu-west-3', AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' };
const before = { ...process.env };
beforeAll(() => {
  Object.assign(process.env, variables);
});
afterAll(() => {
  process.env = before;
});

const from = Date.parse('2026-11-14T10:00:00.500Z');
const to = Date.parse('2026-11-21T10:00:00.500Z');
const started = answer(200, { queryId: 'the-query' });

/** Queries a service with these answers; returns the result and the requests. */
async function ask(...replies: readonly [Reply, ...Reply[]]) {
  await using service = await startFakeService(...replies);
  process.env.AWS_ENDPOINT_URL_CLOUDWATCH_LOGS = service.url;
  let pauses = 0;
  const pause = async () => {
    pauses += 1;
  };
  const outcome = await readInsights('the-group', from, to, pause).catch((error: Error) => error);
  const calls = service.requests.map(({ headers, body }) => ({
    target: `${headers['x-amz-target']}`.replace(/^.*\./, ''),
    body: JSON.parse(body),
  }));
  return { outcome, calls, pauses };
}

const rowOf = (fields: Readonly<Record<string, string>>) =>
  Object.entries(fields).map(([field, value]) => ({ field, value }));

test('one query sums up the tokens by key and member, and is polled until it is complete', async () => {
  const member = rowOf({
    ...{ key: 'key_a', member: 'the-hash', answers: '3', withoutUsage: '1' },
    ...{ input: '1.005E5', cacheRead: '100000', cacheWrite: '500', output: '20', reasoning: '5' },
  });
  // The sum is missing if all lines lack the field, and so is a group's name.
  const guests = rowOf({ answers: '2', withoutUsage: '2', input: '' });
  const running = answer(200, { status: 'Running', results: [] });
  const complete = answer(200, { status: 'Complete', results: [member, guests] });
  const { outcome, calls, pauses } = await ask(started, answer(200, { status: 'Scheduled' }), running, complete);
  const none = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 };
  expect(outcome).toEqual([
    {
      key: 'key_a',
      member: 'the-hash',
      counts: {
        ...{ answers: 3, withoutUsage: 1, input: 100_500, cacheRead: 100_000, cacheWrite: 500 },
        ...{ output: 20, reasoning: 5 },
      },
    },
    { key: undefined, member: undefined, counts: { ...none, answers: 2, withoutUsage: 2 } },
  ]);
  expect(pauses).toBe(2);
  expect(calls.map(({ target }) => target)).toEqual(['StartQuery', ...Array(3).fill('GetQueryResults')]);
  expect(calls[0]?.body).toEqual({
    logGroupName: 'the-group',
    startTime: Date.parse('2026-11-14T10:00:00Z') / 1000,
    endTime: Date.parse('2026-11-21T10:00:01Z') / 1000,
    limit: 10_000,
    queryString:
      'filter ispresent(inputTokens) or ispresent(outputTokens) or usage = "absent" | ' +
      'stats count(*) as answers, count(usage) as withoutUsage, sum(inputTokens) as input, ' +
      'sum(cacheReadTokens) as cacheRead, sum(cacheWriteTokens) as cacheWrite, sum(outputTokens) as output, ' +
      'sum(reasoningTokens) as reasoning by key, member | sort answers desc',
  });
  expect(calls[1]?.body).toEqual({ queryId: 'the-query' });
});

test('a query that does not complete is an error', async () => {
  const { outcome } = await ask(started, answer(200, { status: 'Timeout' }));
  const message = 'CloudWatch ended the query of the-group as Timeout: try again, or with fewer --days';
  expect(outcome).toHaveProperty('message', message);
});
