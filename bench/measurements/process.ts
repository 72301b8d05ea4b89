import { setTimeout } from 'node:timers/promises';
import { forgetPeak, type Measurement, peakMemory, processorTime, repeat } from '../measurement.ts';
import { startSession } from '../session.ts';
import { chatOf } from '../world/conversation.ts';

const subjects = ['bare', 'bareDynamoDb', 'gateway'] as const;
const body = chatOf(500, false);

/** Kilobytes of deployed JavaScript: in total, and what every start reads. */
export const size: Measurement = {
  rounds: 1,
  subjects,
  figures: [
    ['artifact, JavaScript', 'KB', 'total', { bound: 400 }],
    ['artifact, read at every start', 'KB', 'start'],
  ],
  run: async ({ size: { total, start } }) => ({ total: [total / 1024], start: [start / 1024] }),
};

/** A request waits while the process starts, as it does on Lambda. */
export const coldStart: Measurement = {
  rounds: 15,
  subjects,
  figures: [
    ['cold start, spawn to first byte', 'ms', 'firstByte', { to: 'bareDynamoDb', bound: 1.05 }],
    ['cold start, spawn to loaded', 'ms', 'load'],
    ['cold start, processor time', 'ms', 'processor'],
    ['cold start, peak memory', 'MB', 'memory'],
  ],
  async run(subject, world) {
    await world.play({ kind: 'whole' });
    await using session = await startSession(subject, world);
    const { pid, spawnedAt } = session;
    const loaded = session.loaded.then(() => performance.now());
    const [loadedAt, reading] = await Promise.all([loaded, session.ask(body)]);
    return {
      load: [loadedAt - spawnedAt],
      firstByte: [reading.headAt - spawnedAt],
      processor: [processorTime(pid)],
      memory: [peakMemory(pid)],
    };
  },
};

/** Large prompts in sequence, to a function that is warm from small ones. */
export const prompt: Measurement = {
  rounds: 5,
  subjects,
  figures: [
    ['4 MB prompt, processor time', 'ms', 'processor', { to: 'bare', bound: 1.4 }],
    ['4 MB prompt, peak memory', 'MB', 'memory', { to: 'bare', bound: 1.15 }],
    ['the same, after 24 of them', 'MB', 'laterMemory'],
  ],
  async run(subject, world) {
    await world.play({ kind: 'whole' });
    await using session = await startSession(subject, world);
    await repeat(20, () => session.ask(body));
    forgetPeak(session.pid);
    const prompt = chatOf(4 * 1024 * 1024, false);
    let cost = await session.costOf(() => session.ask(prompt));
    const memory = peakMemory(session.pid);
    cost += await session.costOf(() => repeat(23, () => session.ask(prompt)));
    // The mean, because it is chance which request pays for garbage collection and compilation.
    return { processor: [cost / 24], memory: [memory], laterMemory: [peakMemory(session.pid)] };
  },
};

/** A stream that the upstream sends faster than the client reads. */
export const slowReader: Measurement = {
  rounds: 3,
  subjects,
  figures: [
    ['100 MB read at 20 MB/s, peak memory', 'MB', 'memory', { to: 'bare', bound: 1.15 }],
    ['100 MB read at 20 MB/s, processor time', 'ms', 'processor'],
  ],
  async run(subject, world) {
    const streamed = chatOf(500, true);
    await using session = await startSession(subject, world);
    await world.play({ kind: 'events', count: 20 });
    await repeat(20, () => session.ask(streamed));
    forgetPeak(session.pid);
    await world.play({ kind: 'bulk', bytes: 100e6 });
    const startedAt = performance.now();
    let read = 0;
    const watch = async (piece: Buffer) => {
      read += piece.length;
      const ahead = startedAt + read / 20e3 - performance.now();
      if (ahead > 1) await setTimeout(ahead);
    };
    const processor = await session.costOf(() => session.ask(streamed, { watch }));
    return { processor: [processor], memory: [peakMemory(session.pid)] };
  },
};
