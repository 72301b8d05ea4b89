import { setTimeout } from 'node:timers/promises';
import { mostBurst } from '../../lambda/tables/counter-cost.ts';
import { startSession } from '../session.ts';
import { chatOf } from '../world/conversation.ts';
import { type Measurement, median } from './measurement.ts';

/** Milliseconds between requests of the busy caller, which sends as many as a deployment may allow. */
const interval = 60_000 / mostBurst;
/** After a minute its counter holds the tokens of a whole minute, and gets those of another. */
const warmUp = mostBurst;
const measured = 80;

/** One caller at the highest burst limit beside 64 calm ones: the cost of the same request from either, in turn. */
export const busyCaller: Measurement = {
  rounds: 1,
  subjects: ['gateway'],
  async run(subject, world) {
    await using session = await startSession(subject, world);
    await world.play({ kind: 'whole' });
    const body = chatOf(500, false);
    const busy: number[] = [];
    const calm: number[] = [];
    const beginning = performance.now();
    for (let count = 0; count < warmUp + measured; count += 1) {
      await setTimeout(Math.max(0, beginning + count * interval - performance.now()));
      const costs = [
        await session.costOf(() => session.askBusily(body)),
        await session.costOf(() => session.ask(body)),
      ] as const;
      if (count < warmUp) continue;
      busy.push(costs[0]);
      calm.push(costs[1]);
    }
    const minutes = (performance.now() - beginning) / 60_000;
    return { busy, calm, ratio: [median(busy) / median(calm)], rate: [(warmUp + measured) / minutes] };
  },
};
