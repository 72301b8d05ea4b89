import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { describe, expect, test } from '@jest/globals';
import { hangUp, head, json, type Script, silence, sse, write } from '../../local/upstream/script.ts';
import { type Client, createClient } from '../model/client.ts';
import { networkOf } from '../model/rules.ts';
import { createTestCaller } from '../support/dynamodb.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { stopTimers } from '../support/stop-timers.ts';
import { type StoreFault, type StoreOperation, type StoreProxy, startStoreProxy } from '../support/store-proxy.ts';
import { testRows } from '../support/test-rows.ts';
import { waitUntil } from '../support/wait-until.ts';
import { wire } from '../support/wire.ts';

const { path, question, answer, events, failureEvent } = wire.messages;
const eventStream = head(200, { 'content-type': 'text/event-stream' });
const [first = '', second = ''] = events;

interface Way {
  readonly stream: boolean;
  readonly script: Script;
  /** The charges at the end. */
  readonly charged: 0 | 1;
  readonly status?: number;
  /** The client leaves once its answer matches, or as soon as the upstream has the request; absent if it stays. */
  readonly leaves?: RegExp | 'asked';
  /** When only the deadline remains: once the answer matches, or as soon as the upstream has the request. */
  readonly waitsAfter?: RegExp | 'asked';
  readonly body?: unknown;
}

/** Every way in which a request can end. */
const ways: Readonly<Record<string, Way>> = {
  'an answer': { stream: false, script: json(200, answer), charged: 1, status: 200 },
  'an error of the upstream': { stream: false, script: json(500, {}), charged: 0, status: 500 },
  'an error of the caller': { stream: false, script: json(400, {}), charged: 1, status: 400 },
  'a refused body': { stream: false, script: [], charged: 1, status: 400, body: {} },
  'an unusable answer': { stream: false, script: [head(200), hangUp], charged: 0, status: 502 },
  'a timeout': { stream: false, script: [silence], charged: 0, status: 504, waitsAfter: 'asked' },
  'a client that leaves': { stream: false, script: [silence], charged: 1, leaves: 'asked' },
  'a stream': { stream: true, script: sse(events.join('')), charged: 1, status: 200 },
  'an error before a stream': { stream: true, script: sse(failureEvent), charged: 0, status: 502 },
  'a stream that is cut': { stream: true, script: [eventStream, write(first), hangUp], charged: 0, status: 200 },
  'an error in a stream': { stream: true, script: sse(first + failureEvent), charged: 0, status: 200 },
  'a stream that does not end': {
    stream: true,
    script: [eventStream, write(first), silence],
    charged: 1,
    status: 200,
    waitsAfter: /message_start/,
  },
  'a client that leaves its stream': {
    stream: true,
    script: [eventStream, write(first + second), silence],
    charged: 1,
    leaves: /content_block_start/,
  },
  'a client that leaves as it hears of its refund': {
    stream: true,
    script: [eventStream, write(first), hangUp],
    charged: 0,
    leaves: /not charged/,
  },
};

interface Spoilt extends AsyncDisposable {
  readonly gateway: TestGateway;
  readonly store: StoreProxy;
}

/** A gateway with something unreliable between it and its tables. */
async function startSpoilt(environment: Readonly<Record<string, string>> = {}): Promise<Spoilt> {
  await using started = new AsyncDisposableStack();
  const made = Promise.withResolvers<StoreProxy>();
  const gateway = await startTestGateway({
    environment,
    reachStore: async (endpoint) => {
      const store = started.use(await startStoreProxy(endpoint));
      made.resolve(store);
      return createTestCaller(store.endpoint);
    },
  });
  started.use(gateway);
  const running = started.move();
  return { gateway, store: await made.promise, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

const isCharge = ({ name, body }: StoreOperation) => name === 'UpdateItem' && !isRefund({ body });
const isRefund = ({ body }: Pick<StoreOperation, 'body'>) => body.includes(':minusOne');

async function standing({ dynamoDb }: TestGateway, address: string): Promise<number> {
  const pk = { S: `guest#${networkOf(address)}` };
  const command = new GetItemCommand({ TableName: dynamoDb.quotaTable, Key: { pk }, ConsistentRead: true });
  return Number((await dynamoDb.client.send(command)).Item?.ulifetime?.N ?? 0);
}

const endsOf = ({ log }: Pick<TestGateway, 'log'>, address: string) =>
  log.filter(({ message, network }) => /^(answered|refused)$/.test(String(message)) && network === networkOf(address));

/** Takes one way from a new address, and returns the resulting state. */
async function go(gateway: TestGateway, client: Client, way: Way, from: string, onWaiting = () => {}) {
  const body = JSON.stringify(way.body ?? { ...question, stream: way.stream, user: from });
  const headers = { 'x-api-key': 'guest' };
  const answered = await client.send({ method: 'POST', path, headers, body, from }, (leave, onText) => {
    if (way.leaves === 'asked') void asked(gateway, from).then(leave);
    else if (way.leaves) onText(way.leaves, leave);
    if (way.waitsAfter === 'asked') void asked(gateway, from).then(onWaiting);
    else if (way.waitsAfter) onText(way.waitsAfter, onWaiting);
  });
  await waitUntil(() => endsOf(gateway, from).length > 0, `the request from ${from} has ended`);
  return { status: answered?.status, charged: await standing(gateway, from), lines: endsOf(gateway, from).length };
}

/** Resolves when the upstream has the request, or it has ended without that. */
async function asked(gateway: TestGateway, from: string): Promise<void> {
  const isAsked = () => gateway.upstream.requests.some(({ body }) => body.includes(`"user":"${from}"`));
  await waitUntil(() => isAsked() || endsOf(gateway, from).length > 0, `the upstream has the request from ${from}`);
}

const journeys = Object.entries(ways).map(([name, way], index) => ({ name, way, from: `127.0.0.${10 + index}` }));

/** Each group has its own gateway, as all ways together would use up the budget for repeats. */
const groupsOf = (size: number) =>
  Array.from({ length: Math.ceil(journeys.length / size) }, (_, index) =>
    journeys.slice(index * size, (index + 1) * size),
  );

describe('every way a request can end is settled once', () => {
  const weather: readonly (readonly [string, StoreFault | undefined, number])[] = [
    ['in good weather', undefined, 0],
    ['where each answer of the store is lost twice', 'answer lost', 2],
    ['where each request to the store is lost once', 'request lost', 1],
    ['where the store fails twice', 'failing', 2],
    ['where the store is throttled once', 'throttled', 1],
    ['where the store is late', 'late', 3],
  ];

  testRows(weather)('in each weather', async (_name, fault, times) => {
    for (const group of groupsOf(times > 1 ? 3 : 7)) await goAll(group, fault, times);
  });

  async function goAll(group: typeof journeys, fault: StoreFault | undefined, times: number): Promise<void> {
    await using spoilt = await startSpoilt({ REQUEST_TIMEOUT: '800', UPSTREAM_IDLE_TIMEOUT: '900', GUEST_LIMIT: '2' });
    const { gateway, store } = spoilt;
    gateway.upstream.otherwise(
      ({ body }) => group.find(({ from }) => body.includes(`"user":"${from}"`))?.way.script ?? [],
    );
    store.spoil(({ attempt }) => (attempt <= times ? fault : undefined));
    const client = createClient(gateway.url);
    using timers = stopTimers();
    let pending = group.length;
    const arrive = () => {
      pending -= 1;
    };
    const ended = group.map(async ({ name, way, from }) => {
      const outcome = await go(gateway, client, way, from, arrive);
      if (way.waitsAfter === undefined) arrive();
      return [name, outcome];
    });
    await Promise.race([Promise.all(ended), waitUntil(() => pending === 0, 'all have ended but those that wait')]);
    timers.pass(800_000);
    const expected = group.map(({ name, way: { status, charged } }) => [name, { status, charged, lines: 1 }]);
    expect(await Promise.all(ended)).toEqual(expected);
    client.close();
    expect(gateway.log.filter(({ message }) => message === 'charge left standing')).toEqual([]);
  }
});

describe('if the store’s answer is lost for good', () => {
  const from = '127.0.0.10';
  // To the gateway a lost request looks like a lost answer, and a store that fails may have done it all the same.
  const charges: readonly (readonly [StoreFault, 0 | 1, number])[] = [
    ['request lost', 0, 1],
    ['failing', 0, 1],
    ['throttled', 0, 0],
    ['answer lost', 1, 1],
    ['silent', 1, 1],
  ];

  testRows(charges)('to a charge, nothing is sent upstream', async (fault, charged, logged) => {
    await using spoilt = await startSpoilt();
    const { gateway, store } = spoilt;
    store.spoil((operation) => (isCharge(operation) ? fault : undefined));
    const client = createClient(gateway.url);
    const way = { stream: false, script: [], charged } as const;
    expect(await go(gateway, client, way, from)).toEqual({ status: 503, charged, lines: 1 });
    client.close();
    expect(endsOf(gateway, from)[0]).toMatchObject({ message: 'refused', code: 'service_unavailable' });
    const { requestId } = endsOf(gateway, from)[0] ?? {};
    const standing = gateway.log.filter(({ message }) => message === 'charge left standing');
    const line = {
      requestId,
      operation: 'charge',
      cause: expect.stringMatching(/^(NoAnswer|InternalServerError|TooSlow)$/),
    };
    expect(standing).toMatchObject(Array(logged).fill({ ...line, ChargesLeftStanding: 1 }));
    expect(gateway.upstream.requests).toEqual([]);
  });

  test('to a charge, and its repeat is refused, the charge stands', async () => {
    await using spoilt = await startSpoilt();
    const { gateway, store } = spoilt;
    store.spoil((operation) => {
      if (!isCharge(operation)) return undefined;
      return operation.attempt === 1 ? 'answer lost' : 'refusing';
    });
    const client = createClient(gateway.url);
    const way = { stream: false, script: [], charged: 1 } as const;
    expect(await go(gateway, client, way, from)).toEqual({ status: 503, charged: 1, lines: 1 });
    client.close();
    const [end] = endsOf(gateway, from);
    const cause = 'ExpiredTokenException';
    expect(end).toMatchObject({ code: 'service_unavailable', reason: 'answer_lost', cause });
    const standing = gateway.log.filter(({ message }) => message === 'charge left standing');
    expect(standing).toMatchObject([{ requestId: end?.requestId, operation: 'charge', cause }]);
  });

  const refunds: readonly (readonly [StoreFault, 0 | 1])[] = [
    ['request lost', 1],
    ['answer lost', 0],
    ['silent', 0],
  ];

  testRows(refunds)('to a refund, that is logged, and the client gets its answer', async (fault, charged) => {
    await using spoilt = await startSpoilt();
    const { gateway, store } = spoilt;
    store.spoil((operation) => (isRefund(operation) ? fault : undefined));
    const client = createClient(gateway.url);
    const failures = ['an error of the upstream', 'a stream that is cut'] as const;
    for (const [index, name] of failures.entries()) {
      const way = ways[name];
      if (!way) throw new Error(`no way is called ${name}`);
      gateway.upstream.answer(way.script);
      const address = `127.0.0.${20 + index}`;
      expect(await go(gateway, client, way, address)).toEqual({ status: way.status, charged, lines: 1 });
      const line = { operation: 'refund', requestId: endsOf(gateway, address)[0]?.requestId };
      const standing = gateway.log.filter(({ message }) => message === 'charge left standing');
      expect([standing.length, standing.at(-1)]).toEqual([index + 1, expect.objectContaining(line)]);
    }
    client.close();
  });
});
