import { peakMemory, processorTime } from '../process-figures.ts';
import { startSession } from '../session.ts';
import { chatOf } from '../world/conversation.ts';
import type { Measurement } from './measurement.ts';

/** A request waits while the process starts, as it does on Lambda. */
export const coldStart: Measurement = {
  rounds: 15,
  subjects: ['bare', 'bareDynamoDb', 'gateway', 'gatewayWithoutSecrets'],
  async run(subject, world) {
    await world.play({ kind: 'whole' });
    await using session = await startSession(subject, world);
    const [loadedAt, reading] = await Promise.all([
      session.loaded.then(() => performance.now()),
      session.ask(chatOf(500, false)),
    ]);
    return {
      load: [loadedAt - session.spawnedAt],
      firstByte: [reading.headAt - session.spawnedAt],
      processor: [processorTime(session.pid)],
      memory: [peakMemory(session.pid)],
    };
  },
};
