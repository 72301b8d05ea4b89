import { setTimeout } from 'node:timers/promises';
import { mostBurst } from '../../lambda/tables/counter-cost.ts';
import { type Figure, type Measurement, median, repeat } from '../measurement.ts';
import { serveInTurn, startServing } from '../serving.ts';
import { askDirectly, type Reading, type Session, startSession } from '../session.ts';
import { chatOf } from '../world/conversation.ts';
import type { World } from '../world/world.ts';

const body = chatOf(500, false);
const toDynamoDb = (bound: number) => ({ to: 'bareDynamoDb', bound }) as const;

/** Small requests in sequence: first with plain answers, then with short streams. */
export const requests: Measurement = {
  rounds: 4,
  subjects: ['bare', 'bareDynamoDb', 'gateway', 'gatewayUncached', 'gatewayWithPrices'],
  figures: [
    ['plain request, processor time', 'ms', 'processor', toDynamoDb(0.8)],
    ['the same, identity not cached', 'ms', 'processor', toDynamoDb(1.15), 'gatewayUncached'],
    ['the same without a budget, where others have one', 'ms', 'processor', toDynamoDb(0.8), 'gatewayWithPrices'],
    ['plain request, added latency p50', 'ms', 'added', toDynamoDb(0.8)],
    ['stream, added time to first byte p50', 'ms', 'streamAdded', toDynamoDb(0.8)],
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
 * Processor time per request, and the time that the function adds to the same request sent straight to the upstream. Batches
 * of the two alternate.
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

/** One caller at the highest burst limit beside 64 calm ones: the cost of the same request from either, in turn. */
export const busyCaller: Measurement = {
  rounds: 1,
  subjects: ['gateway'],
  figures: [
    ['busy caller beside 64 calm ones, requests a minute', '', 'rate'],
    ['a request of the busy one, processor time', 'ms', 'busy'],
    ['a request of a calm one, processor time', 'ms', 'calm'],
    ['busy to calm', '×', 'ratio', { bound: 1.35 }],
  ],
  async run(subject, world) {
    await using session = await startSession(subject, world);
    await world.play({ kind: 'whole' });
    const [busy, calm]: [number[], number[]] = [[], []];
    const startedAt = performance.now();
    // After a minute its counter holds the tokens of a whole minute, and gets those of another.
    const count = mostBurst + 80;
    for (let sent = 0; sent < count; sent += 1) {
      await setTimeout(Math.max(0, startedAt + (sent * 60_000) / mostBurst - performance.now()));
      busy.push(await session.costOf(() => session.ask(body, { keys: session.keys.busy })));
      calm.push(await session.costOf(() => session.ask(body)));
    }
    const rate = (count / (performance.now() - startedAt)) * 60_000;
    return compare({ busy: busy.slice(mostBurst), calm: calm.slice(mostBurst), rate: [rate] }, 'busy', 'calm');
  },
};

const budgetFigures = (bound: number): readonly Figure[] => [
  ['request of a caller without a budget, processor time', 'ms', 'without'],
  ['the same with a budget', 'ms', 'with'],
  ['with to without', '×', 'ratio', { bound }],
];

/** Callers without a budget and callers with one, in turn in one process: the cost of the same request from either. */
export const budgets: Measurement = {
  rounds: 3,
  subjects: ['gatewayWithPrices'],
  gateway: 'gatewayWithPrices',
  figures: budgetFigures(1.3),
  async run(subject, world) {
    await using session = await startSession(subject, world);
    await world.play({ kind: 'whole' });
    const { calm, budget } = session.keys;
    return await inTurn([calm, budget], 50, 4, async (keys, size) =>
      session.costOf(() => repeat(size, () => session.ask(body, { keys }))),
    );
  },
};

/** The same of the HTTP server, with sixteen clients. */
export const serverBudgets: Measurement = {
  rounds: 3,
  subjects: ['serverWithPrices'],
  gateway: 'serverWithPrices',
  figures: budgetFigures(1.4),
  async run(subject, world) {
    await using serving = await startServing(subject, world);
    await world.play({ kind: 'whole' });
    const { keys, keysWithBudget } = world.store;
    // As many, so that their counters are as large.
    return await inTurn([keys.slice(0, keysWithBudget.length), keysWithBudget], 1_000, 3, async (from, size) => {
      const { processor } = await serving.measure(() => serveInTurn(serving, body, 16, (sent) => sent < size, from));
      return processor;
    });
  },
};

type Keys = readonly string[];

/** The cost of a request with either's keys, in batches of this size, after some to warm up. */
async function inTurn(
  [without, budget]: readonly [without: Keys, budget: Keys],
  size: number,
  warmUp: number,
  measureBatch: (keys: Keys, size: number) => Promise<number>,
) {
  const samples = { without: [] as number[], with: [] as number[] };
  await repeat(warmUp + 8, async () => {
    samples.without.push((await measureBatch(without, size)) / size);
    samples.with.push((await measureBatch(budget, size)) / size);
  });
  return compare({ without: samples.without.slice(warmUp), with: samples.with.slice(warmUp) }, 'with', 'without');
}

function compare<Name extends string>(samples: Record<Name, number[]>, one: NoInfer<Name>, other: NoInfer<Name>) {
  return { ...samples, ratio: [median(samples[one]) / median(samples[other])] };
}
