import { forgetPeak, peakMemory } from '../process-figures.ts';
import { startSession } from '../session.ts';
import { chatOf } from '../world/conversation.ts';
import type { Measurement } from './measurement.ts';

const size = 4 * 1024 * 1024;
const firstPrompts = 8;
const prompts = 24;

/** Large prompts in sequence, to a function that is warm from small ones. */
export const prompt: Measurement = {
  rounds: 5,
  subjects: ['bare', 'bareDynamoDb', 'gateway'],
  async run(subject, world) {
    await world.play({ kind: 'whole' });
    await using session = await startSession(subject, world);
    for (let index = 0; index < 20; index += 1) await session.ask(chatOf(500, false));
    forgetPeak(session.pid);
    const body = chatOf(size, false);
    // Means, because it is chance which request pays for garbage collection and compilation.
    const ask = async (times: number) => {
      for (let index = 0; index < times; index += 1) await session.ask(body);
    };
    let cost = await session.costOf(() => ask(1));
    const memory = peakMemory(session.pid);
    cost += await session.costOf(() => ask(firstPrompts - 1));
    const firstCost = cost / firstPrompts;
    cost += await session.costOf(() => ask(prompts - firstPrompts));
    return {
      processor: [cost / prompts],
      firstProcessor: [firstCost],
      memory: [memory],
      laterMemory: [peakMemory(session.pid)],
    };
  },
};
