import { setTimeout } from 'node:timers/promises';
import { forgetPeak, type Measurement, peakMemory, processorTime, repeat } from '../measurement.ts';
import { startSession } from '../session.ts';
import { chatOf } from '../world/conversation.ts';
import { vectorsBody } from '../world/vectors.ts';

const subjects = ['bare', 'bareDynamoDb', 'gateway'] as const;
const body = chatOf(500, false);

/** Kilobytes of deployed JavaScript. */
export const size: Measurement = {
  rounds: 1,
  subjects,
  figures: [['artifact, JavaScript', 'KB', 'total']],
  run: async ({ kilobytes }) => ({ total: [kilobytes] }),
};

/** A request waits while the process starts, as on Lambda. */
export const coldStart: Measurement = {
  rounds: 15,
  subjects,
  figures: [
    ['cold start, spawn to first byte', 'ms', 'firstByte', { to: 'bareDynamoDb', bound: 0.95 }],
    ['the same, processor time', 'ms', 'processor', { to: 'bareDynamoDb', bound: 0.95 }],
  ],
  async run(subject, world) {
    await world.play({ kind: 'whole' });
    await using session = await startSession(subject, world);
    const { firstByteAt } = await session.ask(body);
    return { firstByte: [firstByteAt - session.spawnedAt], processor: [processorTime(session.pid)] };
  },
};

/** Large prompts in sequence, to a function that is warm from small ones. */
export const prompt: Measurement = {
  rounds: 5,
  subjects,
  figures: [['4 MB prompt, processor time', 'ms', 'processor', { to: 'bare', bound: 1.5 }]],
  async run(subject, world) {
    await world.play({ kind: 'whole' });
    await using session = await startSession(subject, world);
    await repeat(20, () => session.ask(body));
    const large = chatOf(4 * 1024 * 1024, false);
    // The mean, because which request pays for garbage collection and compilation is chance.
    return { processor: [(await session.costOf(() => repeat(24, () => session.ask(large)))) / 24] };
  },
};

/** Embeddings of 2,048 vectors of 1,536 numbers in sequence, as numbers and in base64. */
export const vectors: Measurement = {
  rounds: 3,
  subjects,
  figures: [
    ['2,048 vectors as numbers, processor time', 'ms', 'float'],
    ['2,048 vectors in base64, processor time', 'ms', 'base64'],
    ['2,048 vectors, peak memory', 'MB', 'memory'],
  ],
  async run(subject, world) {
    await using session = await startSession(subject, world);
    const costOf = async (inBase64: boolean) => {
      await world.play({ kind: 'vectors', inBase64 });
      const ask = () => session.ask(vectorsBody, { path: '/v1/embeddings' });
      await repeat(3, ask);
      return (await session.costOf(() => repeat(12, ask))) / 12;
    };
    return { float: [await costOf(false)], base64: [await costOf(true)], memory: [peakMemory(session.pid)] };
  },
};

/** A stream that the upstream sends faster than the client reads. */
export const slowReader: Measurement = {
  rounds: 3,
  subjects,
  figures: [['100 MB read at 20 MB/s, peak memory', 'MB', 'memory']],
  async run(subject, world) {
    const streamed = chatOf(500, true);
    await using session = await startSession(subject, world);
    await world.play({ kind: 'events', count: 20 });
    await repeat(20, () => session.ask(streamed));
    forgetPeak(session.pid);
    await world.play({ kind: 'bulk', bytes: 100e6 });
    const startedAt = performance.now();
    let read = 0;
    for await (const piece of await session.open(streamed)) {
      read += piece.length;
      const ahead = startedAt + read / 20e3 - performance.now();
      if (ahead > 1) await setTimeout(ahead);
    }
    return { memory: [peakMemory(session.pid)] };
  },
};
