import { createServer } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { mostBurst } from '../../lambda/store/dynamodb/schema.ts';
import { listenLocally } from '../../local/listen-locally.ts';
import { type Measurement, measureInTurn, median, repeat } from '../measurement.ts';
import { serveInTurn, startServing } from '../serving.ts';
import { askDirectly, type Reading, type Session, startSession } from '../session.ts';
import { chatOf } from '../world/conversation.ts';
import type { World } from '../world/world.ts';

const body = chatOf(500, false);

/** Small requests in sequence: plain ones, then short streams. */
export const requests: Measurement = {
  rounds: 4,
  subjects: ['bare', 'bareDynamoDb', 'gateway'],
  figures: [
    ['plain request, processor time', 'ms', 'processor', { to: 'bareDynamoDb', bound: 0.8 }],
    ['plain request, added latency p50', 'ms', 'added', { to: 'bareDynamoDb', bound: 0.9 }],
    ['stream, added time to first byte p50', 'ms', 'streamAdded', { to: 'bareDynamoDb', bound: 0.95 }],
  ],
  async run(subject, world) {
    await using session = await startSession(subject, world);
    await world.play({ kind: 'whole' });
    const whole = await measure(session, world, body, ({ endAt }) => endAt);
    await world.play({ kind: 'events', count: 20 });
    const stream = await measure(session, world, chatOf(500, true), ({ firstByteAt }) => firstByteAt);
    return { ...whole, streamAdded: stream.added };
  },
};

/**
 * CPU time per request, and the latency that the function adds to the same request sent directly to the upstream. Batches of the
 * two alternate.
 */
async function measure(session: Session, world: World, asked: string, until: (reading: Reading) => number) {
  const size = 50;
  const timeOf = async (count: number, ask: () => Promise<Reading>) => {
    const times: number[] = [];
    await repeat(count, async () => {
      const reading = await ask();
      times.push(until(reading) - reading.askedAt);
    });
    return median(times);
  };
  const through = () => session.ask(asked);
  const direct = () => askDirectly(world, asked);
  await timeOf(200, through);
  await timeOf(size, direct);
  const [processor, added]: [number[], number[]] = [[], []];
  await repeat(4, async () => {
    let time = 0;
    const cost = await session.costOf(async () => {
      time = await timeOf(size, through);
    });
    processor.push(cost / size);
    added.push(time - (await timeOf(size, direct)));
  });
  return { processor, added };
}

/** A caller at the highest burst limit beside quiet ones: the cost of the same request from either, alternating. */
export const busyCaller: Measurement = {
  rounds: 1,
  subjects: ['gateway'],
  figures: [['request at the highest burst limit to a calm one, processor time', '×', 'ratio']],
  async run(subject, world) {
    await using session = await startSession(subject, world);
    await world.play({ kind: 'whole' });
    const costOf = (keys: Keys) => session.costOf(() => session.ask(body, { keys }));
    const [first = '', ...others] = session.keys;
    const [busy, calm]: [number[], number[]] = [[], []];
    const startedAt = performance.now();
    // After a minute, the busy caller's counter holds the tokens of a whole minute, and gets those of another.
    for (let sent = 0; sent < mostBurst + 80; sent += 1) {
      await setTimeout(Math.max(0, startedAt + (sent * 60_000) / mostBurst - performance.now()));
      busy.push(await costOf([first]));
      calm.push(await costOf(others));
    }
    return { ratio: [median(busy.slice(mostBurst)) / median(calm.slice(mostBurst))] };
  },
};

/** Never used up. */
const budget = { budget: 1e15, budgetWindow: 'month' } as const;

/** Callers with and without a budget, alternating in one process: the cost of the same request from either. */
export const budgets: Measurement = {
  rounds: 3,
  subjects: ['gatewayWithPrices'],
  figures: [['request with a budget to one without, processor time', '×', 'ratio', { bound: 1.35 }]],
  async run(subject, world) {
    await using session = await startSession(subject, world);
    await world.play({ kind: 'whole' });
    const withBudget = await world.issueKeys(session.keys.length, budget);
    return await compareInTurn(session.keys, withBudget, 4, (keys) =>
      session.costOf(() => repeat(50, () => session.ask(body, { keys }))),
    );
  },
};

/** The same for the HTTP server, with sixteen clients. */
export const serverBudgets: Measurement = {
  rounds: 3,
  subjects: ['serverWithPrices'],
  figures: [['the same of the server', '×', 'ratio', { bound: 1.35 }]],
  async run(subject, world) {
    await using serving = await startServing(subject, world);
    await world.play({ kind: 'whole' });
    // As many keys as the others have, so that the counters are equally large.
    const [plain, withBudget] = [serving.keys.slice(0, 1_000), await world.issueKeys(1_000, budget)];
    return await compareInTurn(plain, withBudget, 3, async (keys) => {
      const send = () => serveInTurn(serving, body, { clients: 16, more: (sent) => sent < 1_000, keys });
      return (await serving.measure(send)).processor;
    });
  },
};

/** The HTTP server with and without sending spans to a collector. */
export const serverSpans: Measurement = {
  rounds: 3,
  subjects: ['server'],
  figures: [['server: with spans to without, processor time', '×', 'ratio']],
  async run(subject, world) {
    await using collector = await startCollector();
    const environment = { ...subject.environment, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
    await using plain = await startServing(subject, world);
    await using traced = await startServing({ ...subject, environment }, world);
    await world.play({ kind: 'whole' });
    return await compareInTurn(plain, traced, 3, async (serving) => {
      const send = () => serveInTurn(serving, body, { clients: 16, more: (sent) => sent < 1_000 });
      return (await serving.measure(send)).processor;
    });
  },
};

/** Discards all spans. */
async function startCollector() {
  const server = createServer((request, response) => {
    request.resume().once('end', () => response.end('{}'));
  });
  const { url, close } = await listenLocally(server);
  return { url, [Symbol.asyncDispose]: close };
}

type Keys = readonly string[];

/** The second way's cost as a ratio to the first one's, measured alternately after some warm-up batches. */
async function compareInTurn<Way>(plain: Way, dearer: Way, warmUp: number, costOf: (way: Way) => Promise<number>) {
  const found = await measureInTurn([plain, dearer], warmUp + 8, async (way) => ({ cost: await costOf(way) }));
  const [first = Number.NaN, second = Number.NaN] = found.map(({ cost = [] }) => median(cost.slice(warmUp)));
  return { ratio: [second / first] };
}
