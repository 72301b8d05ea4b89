import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { dynamoDbService } from '../../../../lambda/aws/access.ts';
import { createCallService } from '../../../../lambda/aws/call-service.ts';
import { ServiceError } from '../../../../lambda/aws/repeat.ts';
import { GatewayError } from '../../../../lambda/errors.ts';
import { createAdminCounters } from '../../../../lambda/store/admin/counters.ts';
import { inTime as callInTime, createDocuments } from '../../../../lambda/store/admin/documents.ts';
import { createKeyStore } from '../../../../lambda/store/admin/keys.ts';
import { createKeyReader } from '../../../../lambda/store/dynamodb/keys.ts';
import { createTestAccess } from '../../../support/dynamodb.ts';
import { answer, type Reply, startFakeService } from '../../../support/fake-service.ts';
import { stopTimers } from '../../../support/stop-timers.ts';
import { testRows } from '../../../support/test-rows.ts';
import { inTime } from '../../../support/wait-until.ts';

// With minimal back-off.
beforeEach(() => void jest.spyOn(Math, 'random').mockReturnValue(0));
afterEach(() => void jest.restoreAllMocks());

type Replies = readonly [Reply, ...Reply[]];

const isOf = (type: string) => ({ __type: `com.amazonaws.dynamodb.v20120810#${type}` });
const refuse = (type: string, message = 'no') => answer(400, { ...isOf(type), message });
const hangUp: Reply = (_response, { socket }) => socket.destroy();
/** Nothing was done, and no retry would have helped. */
const notLost = { code: 'service_unavailable', reason: undefined };
const fine = answer(200, { Item: { pk: { S: 'key#hash' }, id: { S: 'key_1' } } });

/** Reads a key from a service with these replies, with the gateway's client and with that of the account pages. */
const readers = {
  gateway: (url: string) => {
    const call = createCallService(dynamoDbService, createTestAccess(url), { now: Date.now, random: () => 0 });
    return createKeyReader(call, 'keys').findKey('hash');
  },
  people: (url: string) => createKeyStore(createDocuments(createTestAccess(url)), 'keys').findKey('hash'),
};

/** The outcome, as clients or the log see it. */
async function outcomeOf(read: (url: string) => Promise<unknown>, replies: Replies) {
  await using service = await startFakeService(...replies);
  const outcome = await read(service.url).catch((error: unknown) => error);
  if (outcome instanceof GatewayError) {
    const { code, message, reason, cause } = outcome;
    const causeOf = cause instanceof ServiceError && cause.name;
    return { code, message, reason, causeOf };
  }
  return outcome instanceof ServiceError
    ? { name: outcome.name, message: outcome.message, status: outcome.status }
    : outcome;
}

testRows<[string, Replies, outcome: object]>([
  ['throttled', [refuse('ProvisionedThroughputExceededException')], { code: 'service_unavailable' }],
  ['throttled by another name', [refuse('ThrottlingException')], { code: 'service_unavailable' }],
  ['in trouble', [answer(500, isOf('InternalServerError'))], { code: 'service_unavailable' }],
  ['no service', [answer(503, isOf('ServiceUnavailable'))], { code: 'service_unavailable' }],
  ['silent', [hangUp], { code: 'service_unavailable', causeOf: 'NoAnswer' }],
  ['unintelligible', [answer(200, '<html>')], { code: 'service_unavailable' }],
  ['called with expired credentials', [refuse('ExpiredTokenException')], { code: 'service_unavailable' }],
  ['in trouble for a moment', [hangUp, answer(500, ''), fine], { id: 'key_1' }],
  ['called without permission', [refuse('AccessDeniedException')], { causeOf: 'AccessDeniedException', ...notLost }],
  ['called with unknown credentials', [refuse('UnrecognizedClientException')], notLost],
  ['called with a wrong secret', [refuse('InvalidSignatureException')], notLost],
  [
    'without the table',
    [refuse('ResourceNotFoundException'), fine],
    { causeOf: 'ResourceNotFoundException', ...notLost },
  ],
  ['called with invalid input', [refuse('ValidationException')], { name: 'ValidationException', status: 400 }],
])('failures and refusals of the store mean the same with both clients', async (_name, replies, told) => {
  const outcome = await outcomeOf(readers.people, replies);
  expect(outcome).toMatchObject(told);
  expect(outcome).toEqual(await outcomeOf(readers.gateway, replies));
});

test.each(Object.entries(readers))('%s: a wrong clock is corrected', async (_name, read) => {
  const hour = 3_600_000;
  const late: Reply = (response) => {
    const message = 'Signature expired: 20261121T110000Z is now earlier than 20261121T115500Z';
    response.setHeader('date', new Date(Date.now() + hour).toUTCString());
    return answer(403, { __type: 'com.amazon.coral.service#InvalidSignatureException', message })(
      response,
      undefined as never,
    );
  };
  await using service = await startFakeService(late, fine);
  expect(await read(service.url)).toEqual({ id: 'key_1' });
  const [first, second] = service.requests.map(({ headers }) => String(headers['x-amz-date']));
  expect((24 + Number(second?.slice(9, 11)) - Number(first?.slice(9, 11))) % 24).toBe(1);
});

describe('calls time out after two seconds', () => {
  const countsAt = (url: string) => createAdminCounters(createDocuments(createTestAccess(url)), 'quota');
  const reservation = { name: 'h1.a', minute: 1, budgetPeriod: 'm1', amount: 1 };
  const silence: Reply = () => {};
  testRows<[string, (url: string) => Promise<unknown>, Reply]>([
    ['for an answer', readers.people, silence],
    ['for the rest of one', readers.people, (response) => response.writeHead(200).write('{')],
    ['for what a caller has used', (url) => countsAt(url).read({ item: 'a' }), silence],
    ['for a settlement', (url) => countsAt(url).settle({ item: 'a' }, reservation, { spent: 0 }), silence],
    [
      'for a page of all counters',
      (url) =>
        countsAt(url)
          .scan(0, async () => {})
          .next(),
      silence,
    ],
  ])('however little comes', async (_name, read, reply) => {
    const asked = Promise.withResolvers<void>();
    await using service = await startFakeService((...given) => {
      reply(...given);
      asked.resolve();
    });
    using timers = stopTimers();
    const outcome = read(service.url).catch((error: unknown) => error);
    await inTime(asked.promise, 'the service is asked');
    timers.pass(2_000);
    expect(await inTime(outcome, 'the call fails')).toMatchObject({
      code: 'service_unavailable',
      cause: { name: 'TooSlow' },
    });
    expect(service.requests).toHaveLength(1);
  });
});

test('the log shows how a connection failed', async () => {
  const failure = Object.assign(new Error('socket hang up'), { code: 'ECONNRESET', $metadata: {} });
  await expect(callInTime(() => Promise.reject(failure))).rejects.toMatchObject({ cause: { code: 'ECONNRESET' } });
});

test('no error contains what was sent', async () => {
  const [first, rest] = ['The signature does not match.', 'The canonical string: x-amz-security-token: SECRET'];
  const outcome = await outcomeOf(readers.people, [refuse('ValidationException', `${first}\n\n${rest}`)]);
  expect(outcome).toEqual({ name: 'ValidationException', message: first, status: 400 });
});

test('without credentials nothing is sent, and their own error is reported', async () => {
  await using service = await startFakeService(fine);
  const failure = new GatewayError('service_unavailable', 'no access right now');
  const access = { ...createTestAccess(service.url), credentials: () => Promise.reject(failure) };
  await expect(createKeyStore(createDocuments(access), 'keys').findKey('hash')).rejects.toBe(failure);
  expect(service.requests).toEqual([]);
});
