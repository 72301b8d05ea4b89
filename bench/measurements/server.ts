import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { forgetPeak, peakMemory } from '../process-figures.ts';
import { type Asked, type Serving, startServing } from '../serving.ts';
import { chatOf } from '../world/conversation.ts';
import type { World } from '../world/world.ts';
import { type Measurement, quantile } from './measurement.ts';

const body = chatOf(500, false);
const streamed = chatOf(500, true);
const streams = 128;
const [warmUp, measured] = [1_000, 4_000];
/** Some ten thousand requests, until V8 has compiled what is hot: a server lives for hours. */
const compileTime = 12_000;
/** A second: little enough for either server. */
const paceOfRequests = 500;

/** Many at once: requests, streams at full speed and at a model's pace, slow readers. */
export const server: Measurement = {
  rounds: 3,
  subjects: ['bareServer', 'server'],
  async run(subject, world) {
    await using serving = await startServing(subject, world);
    await world.play({ kind: 'whole' });
    await ask(serving, 128, compileTime);
    const few = await measureRequests(serving, 16);
    const many = await measureRequests(serving, 128);
    const calm = await measureRequests(serving, 16, paceOfRequests);
    const requests = {
      processorCalm: [calm.processor],
      processor16: [few.processor],
      rate16: [few.rate],
      processor128: [many.processor],
      rate128: [many.rate],
    };
    const fast = await measureFastStreams(serving, world);
    const paced = await measurePacedStreams(serving, world, () => {});
    const beside = await measurePacedStreams(serving, world, sendPrompts);
    // In a new process, without garbage to collect.
    await using fresh = await startServing(subject, world);
    return {
      ...requests,
      ...{ event: [fast.processor], eventRate: [fast.rate], pacedEvent: [paced.processor], share: [paced.share] },
      ...{ delay: [paced.p50], lateDelay: [paced.p99], besidePrompts: [beside.p50], lateBesidePrompts: [beside.p99] },
      memory: [await measureSlowReaders(fresh, world)],
    };
  },
};

async function measureRequests(serving: Serving, clients: number, pace?: number) {
  await ask(serving, clients, warmUp, pace);
  let count = 0;
  const step = async () => {
    count = await ask(serving, clients, measured, pace);
  };
  const { processor, time } = await serving.measure(step);
  return { processor: processor / count, rate: (count / time) * 1000 };
}

/**
 * Each client sends one request after the other for so many milliseconds, or all of them together `pace` requests a second.
 * Gives the number of requests.
 */
async function ask(serving: Serving, clients: number, time: number, pace = Number.POSITIVE_INFINITY): Promise<number> {
  const until = performance.now() + time;
  let count = 0;
  const gap = 1000 / pace;
  const askOn = async (_: unknown, index: number) => {
    let next = performance.now() + index * gap;
    while (performance.now() < until) {
      const { answer } = await serving.ask(body);
      await once(answer.resume(), 'end');
      count += 1;
      next += clients * gap;
      const ahead = next - performance.now();
      if (ahead > 0) await setTimeout(ahead);
    }
  };
  await Promise.all(Array.from({ length: clients }, askOn));
  return count;
}

async function measureFastStreams(serving: Serving, world: World) {
  const read = async () => {
    const { answer } = await serving.ask(streamed);
    await once(answer.resume(), 'end');
  };
  const readAll = () => Promise.all(Array.from({ length: streams }, read));
  await world.play({ kind: 'events', count: 500, pause: 0 });
  await readAll();
  const count = 3_000;
  await world.play({ kind: 'events', count, pause: 0 });
  const { processor, time } = await serving.measure(readAll);
  return { processor: (processor / (streams * count)) * 1000, rate: (streams * count * 1000) / time };
}

/** Streams at forty events a second each. Every event tells when it was sent. */
async function measurePacedStreams(serving: Serving, world: World, disturb: (serving: Serving) => unknown) {
  await world.play({ kind: 'clocked', pause: 25 });
  const delays: number[] = [];
  const open = await Promise.all(Array.from({ length: streams }, () => serving.ask(streamed)));
  for (const { answer } of open) {
    answer.on('data', (piece: Buffer) => {
      const now = Number(process.hrtime.bigint()) / 1e6;
      for (const [, sentAt] of piece.toString().matchAll(/ @(\d+\.\d+)/g)) delays.push(now - Number(sentAt));
    });
  }
  await setTimeout(warmUp);
  delays.length = 0;
  const disturbed = disturb(serving);
  const { processor, time } = await serving.measure(() => setTimeout(measured));
  const events = delays.length;
  for (const { leave } of open) leave();
  await disturbed;
  return {
    processor: (processor / events) * 1000,
    share: processor / time,
    p50: quantile(delays, 0.5),
    p99: quantile(delays, 0.99),
  };
}

/** A prompt of 4 MB every second, without waiting for the answer. */
async function sendPrompts(serving: Serving): Promise<void> {
  const prompt = chatOf(4 * 1024 * 1024, true);
  const until = performance.now() + measured;
  while (performance.now() < until) {
    const { leave } = await serving.ask(prompt);
    leave();
    await setTimeout(1_000);
  }
}

/** Peak memory while every client has stopped reading after the beginning of an endless stream. */
async function measureSlowReaders(serving: Serving, world: World): Promise<number> {
  await world.play({ kind: 'bulk', bytes: Number.POSITIVE_INFINITY });
  forgetPeak(serving.pid);
  const readers: Asked[] = await Promise.all(Array.from({ length: streams }, () => serving.ask(streamed)));
  for (const { answer } of readers) await once(answer, 'readable');
  await setTimeout(measured);
  const memory = peakMemory(serving.pid);
  for (const { leave } of readers) leave();
  return memory;
}
