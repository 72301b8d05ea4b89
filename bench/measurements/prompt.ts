import { forgetPeak, peakMemory } from '../process-figures.ts';
import { startSession } from '../session.ts';
import { chatOf } from '../world/conversation.ts';
import type { Measurement } from './measurement.ts';

const size = 4 * 1024 * 1024;
const prompts = 8;

/** Large prompts, one after the other, to a function that has answered small ones. */
export const prompt: Measurement = {
  rounds: 7,
  subjects: ['bare', 'bareDynamoDb', 'gateway'],
  async run(subject, world) {
    await world.play({ kind: 'whole' });
    await using session = await startSession(subject, world);
    for (let index = 0; index < 20; index += 1) await session.ask(chatOf(500, false));
    forgetPeak(session.pid);
    const body = chatOf(size, false);
    let cost = await session.costOf(() => session.ask(body));
    const memory = peakMemory(session.pid);
    cost += await session.costOf(async () => {
      for (let index = 1; index < prompts; index += 1) await session.ask(body);
    });
    // The mean: which of them pays for the collection of garbage is chance.
    return { processor: [cost / prompts], memory: [memory], laterMemory: [peakMemory(session.pid)] };
  },
};
