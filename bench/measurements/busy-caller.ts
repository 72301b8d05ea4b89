import { setTimeout } from 'node:timers/promises';
import { startSession } from '../session.ts';
import { median } from '../statistics.ts';
import { chatOf } from '../world/conversation.ts';
import type { Measurement } from './measurement.ts';

/** Milliseconds between requests of the busy caller: a thousand a minute. */
const interval = 60;
/** After six seconds its counter holds as many tokens as it ever will. */
const warmUp = 130;
const measured = 120;

/** One caller with a thousand requests a minute beside 64 calm ones: the cost of the same request from either, in turn. */
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
        await session.costOf(() => session.askBusily(body), 'busy', 'ratio', 'rate'),
        await session.costOf(() => session.ask(body), 'calm'),
      ] as const;
      if (count < warmUp) continue;
      busy.push(costs[0]);
      calm.push(costs[1]);
    }
    const minutes = (performance.now() - beginning) / 60_000;
    return { busy, calm, ratio: [median(busy) / median(calm)], rate: [(warmUp + measured) / minutes] };
  },
};
