import { once } from 'node:events';
import { type Serving, startServing } from '../serving.ts';
import { startSession } from '../session.ts';
import { chatOf } from '../world/conversation.ts';
import { type Measurement, median } from './measurement.ts';

const body = chatOf(500, false);
const batches = 8;

/** Callers without a budget and callers with one, in turn in one process: the cost of the same request from either. */
export const budgets: Measurement = {
  rounds: 3,
  subjects: ['gatewayWithPrices'],
  async run(subject, world) {
    await using session = await startSession(subject, world);
    await world.play({ kind: 'whole' });
    const repeat = async (count: number, ask: (body: string) => Promise<unknown>) => {
      for (let index = 0; index < count; index += 1) await ask(body);
    };
    await repeat(200, session.ask);
    await repeat(200, session.askWithBudget);
    const size = 50;
    return await compare(
      async () => (await session.costOf(() => repeat(size, session.ask))) / size,
      async () => (await session.costOf(() => repeat(size, session.askWithBudget))) / size,
    );
  },
};

/** The same of the HTTP server, with sixteen clients. */
export const serverBudgets: Measurement = {
  rounds: 3,
  subjects: ['serverWithPrices'],
  async run(subject, world) {
    await using serving = await startServing(subject, world);
    await world.play({ kind: 'whole' });
    const { keysWithBudget } = world.store;
    // As many, so that their counters are as large.
    const keys = world.store.keys.slice(0, keysWithBudget.length);
    const size = 1_000;
    const askAll = (from: readonly string[]) => askInTurn(serving, from, size);
    for (let count = 0; count < 5; count += 1) await askAll(count % 2 === 0 ? keys : keysWithBudget);
    return await compare(
      async () => (await serving.measure(() => askAll(keys))).processor / size,
      async () => (await serving.measure(() => askAll(keysWithBudget))).processor / size,
    );
  },
};

async function compare(measureWithout: () => Promise<number>, measureWith: () => Promise<number>) {
  const samples = { without: [] as number[], with: [] as number[] };
  for (let batch = 0; batch < batches; batch += 1) {
    samples.without.push(await measureWithout());
    samples.with.push(await measureWith());
  }
  return { ...samples, ratio: [median(samples.with) / median(samples.without)] };
}

/** Sixteen clients send one request after the other, this many together. */
async function askInTurn(serving: Serving, keys: readonly string[], count: number): Promise<void> {
  let sent = 0;
  const askOn = async () => {
    while (sent++ < count) {
      const { answer } = await serving.ask(body, keys);
      await once(answer.resume(), 'end');
    }
  };
  await Promise.all(Array.from({ length: 16 }, askOn));
}
