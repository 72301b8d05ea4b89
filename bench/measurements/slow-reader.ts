import { setTimeout } from 'node:timers/promises';
import { forgetPeak, peakMemory } from '../process-figures.ts';
import { startSession } from '../session.ts';
import { chatOf } from '../world/conversation.ts';
import type { Measurement } from './measurement.ts';

const size = 100e6;
const bytesPerMillisecond = 20e3;

/** A stream that the upstream sends faster than the client reads. */
export const slowReader: Measurement = {
  rounds: 3,
  subjects: ['bare', 'bareDynamoDb', 'gateway'],
  async run(subject, world) {
    await using session = await startSession(subject, world);
    await world.play({ kind: 'events', count: 20, pause: 0 });
    for (let index = 0; index < 20; index += 1) await session.ask(chatOf(500, true));
    forgetPeak(session.pid);
    await world.play({ kind: 'bulk', bytes: size });
    const startedAt = performance.now();
    let read = 0;
    const readSlowly = async (piece: Buffer) => {
      read += piece.length;
      const ahead = startedAt + read / bytesPerMillisecond - performance.now();
      if (ahead > 1) await setTimeout(ahead);
    };
    const processor = await session.costOf(() => session.ask(chatOf(500, true), readSlowly));
    return { processor: [processor], memory: [peakMemory(session.pid)] };
  },
};
