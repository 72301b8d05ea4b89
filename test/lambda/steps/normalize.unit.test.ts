import { setImmediate } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import type { Identity } from '../../../lambda/identity/identify.ts';
import { createJobs } from '../../../lambda/jobs/jobs.ts';
import { createRouter } from '../../../lambda/request/routes.ts';
import { createModels } from '../../../lambda/settings/models.ts';
import { readPrices } from '../../../lambda/settings/read-prices.ts';
import { startReading } from '../../../lambda/steps/normalize.ts';
import { type ParseInput, parseBody } from '../../../lambda/steps/parse-body.ts';
import { incomingRequest } from '../../support/incoming-request.ts';
import { dialects } from '../../support/rewrite.ts';

const models = createModels({ serviceName: 'svc', offersEmbeddings: false });
const findRoute = createRouter(dialects);
const prices = readPrices('{"svc":{"input":1,"output":2},"svc-vision":{"input":1,"output":2}}', models.all, []);
const step = startReading({
  parseBody: createJobs()('parseBody', (json, reading: ParseInput) =>
    parseBody(json, reading, { dialects, models, prices }),
  ),
  ...{ requestBodyLimit: 1_000_000, callerIdKey: undefined, reservedOutput: 4_096, upstreamTrace: false },
  prices,
  budgets: { memberBudget: undefined },
});
/** How often the body is read before the charge, and while it is in flight. */
const readsFor = async (identity: Identity, body: string, path = '/v1/chat/completions', encoding = 'identity') => {
  let reads = 0;
  const takeBody = async () => {
    reads += 1;
    return body;
  };
  const route = findRoute({ method: 'POST', path, headers: {} });
  const request: object = { ...incomingRequest(), size: body.length, route, identity, encoding, takeBody };
  await Promise.resolve(step.before?.(request as Parameters<NonNullable<typeof step.before>>[0])).catch(() => {});
  const before = reads;
  await setImmediate();
  await setImmediate();
  return { before, beside: reads - before };
};
const someone: Identity = { kind: 'member', member: 'm' };
const guest: Identity = { kind: 'guest', networkId: 'n' };
const budgeted: Identity = { ...someone, own: { budget: { amount: 1_000_000, window: 'day' } } };
const bodies = ['{"model":"svc","messages":[]}', '{', '['.repeat(100_000)];

test('only the body of a caller with a budget or a list of models is read before the charge', async () => {
  for (const body of bodies) {
    expect((await readsFor(guest, body)).before).toBe(0);
    expect((await readsFor(someone, body)).before).toBe(0);
    expect((await readsFor(budgeted, body)).before).toBe(1);
    expect((await readsFor({ ...someone, models: ['svc-vision'] }, body)).before).toBe(1);
  }
  // Counting tokens is free, so nothing is reserved.
  expect((await readsFor(budgeted, '{}', '/v1/messages/count_tokens')).before).toBe(0);
});

test('the body of a known caller is read in parallel with the charge, if that is cheap', async () => {
  const [sound, broken, large] = bodies as [string, string, string];
  expect((await readsFor(someone, sound)).beside).toBe(1);
  expect((await readsFor(someone, broken)).beside).toBe(1);
  expect((await readsFor(someone, large)).beside).toBe(0);
  expect((await readsFor(someone, sound, undefined, 'gzip')).beside).toBe(0);
  expect((await readsFor(guest, sound)).beside).toBe(0);
  expect((await readsFor(budgeted, sound)).beside).toBe(0);
});
