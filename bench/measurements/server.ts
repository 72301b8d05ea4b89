import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { forgetPeak, type Measurement, peakMemory, quantile } from '../measurement.ts';
import { type Serving, serveInTurn, startServing } from '../serving.ts';
import { chatOf } from '../world/conversation.ts';
import type { World } from '../world/world.ts';

const body = chatOf(500, false);
const streamed = chatOf(500, true);
const streams = 128;
const [warmUp, measured] = [1_000, 4_000];

/** Many at once: requests, streams at full speed and at a model's pace, slow readers. */
export const server: Measurement = {
  rounds: 3,
  subjects: ['bareServer', 'server'],
  gateway: 'server',
  figures: [
    ['server, 16 clients: requests a second', '', 'rate16'],
    ['a request, processor time', 'ms', 'processor16', { to: 'bare', bound: 3 }],
    ['the same, 500 requests a second', 'ms', 'processorCalm', { to: 'bare', bound: 3 }],
    ['a request of 128 clients, processor time', 'ms', 'processor128', { to: 'bare', bound: 3 }],
    ['event of 128 fast streams, processor time', 'µs', 'event', { to: 'bare', bound: 1.6 }],
    ['share of one core that 128 streams of 40 events a second take', '', 'share', { bound: 0.35 }],
    ['their delay beside a 4 MB prompt a second, p99', 'ms', 'lateBesidePrompts', { bound: 50 }],
    ['server, 128 slow readers: peak memory', 'MB', 'memory', { to: 'bare', bound: 1.2 }],
  ],
  async run(subject, world) {
    await using serving = await startServing(subject, world);
    await world.play({ kind: 'whole' });
    // Some ten thousand requests, until V8 has compiled what is hot: a server lives for hours.
    await serveFor(serving, 128, 12_000);
    const few = await measureRequests(serving, 16);
    const many = await measureRequests(serving, 128);
    // Little enough for either server.
    const calm = await measureRequests(serving, 16, 500);
    const fast = await measureFastStreams(serving, world);
    const paced = await measurePacedStreams(serving, world, async () => {});
    const beside = await measurePacedStreams(serving, world, sendPrompts);
    // In a new process, without garbage to collect.
    await using fresh = await startServing(subject, world);
    return {
      ...{ processor16: [few.processor], rate16: [few.rate], processor128: [many.processor] },
      ...{ processorCalm: [calm.processor], event: [fast], share: [paced.share], lateBesidePrompts: [beside.p99] },
      memory: [await measureSlowReaders(fresh, world)],
    };
  },
};

/** So many milliseconds. Gives the number of requests. */
function serveFor(serving: Serving, clients: number, time: number, pace?: number): Promise<number> {
  const until = performance.now() + time;
  return serveInTurn(serving, body, clients, () => performance.now() < until, undefined, pace);
}

async function measureRequests(serving: Serving, clients: number, pace?: number) {
  await serveFor(serving, clients, warmUp, pace);
  let count = 0;
  const { processor, time } = await serving.measure(async () => {
    count = await serveFor(serving, clients, measured, pace);
  });
  return { processor: processor / count, rate: (count / time) * 1000 };
}

/** One of each of so many clients. */
const openStreams = (serving: Serving) => Promise.all(Array.from({ length: streams }, () => serving.ask(streamed)));

/** Microseconds of processor time for an event. */
async function measureFastStreams(serving: Serving, world: World) {
  const readAll = () => serveInTurn(serving, streamed, streams, (sent) => sent < streams);
  await world.play({ kind: 'events', count: 500 });
  await readAll();
  const count = 3_000;
  await world.play({ kind: 'events', count });
  const { processor } = await serving.measure(readAll);
  return (processor / (streams * count)) * 1000;
}

/** Streams at forty events a second each. Every event tells when it was sent. */
async function measurePacedStreams(serving: Serving, world: World, disturb: (serving: Serving) => Promise<void>) {
  await world.play({ kind: 'clocked', pause: 25 });
  const delays: number[] = [];
  const open = await openStreams(serving);
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
  const p99 = quantile(delays, 0.99);
  for (const { leave } of open) leave();
  await disturbed;
  return { share: processor / time, p99 };
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
  await world.play({ kind: 'bulk', bytes: Number.MAX_VALUE });
  forgetPeak(serving.pid);
  const readers = await openStreams(serving);
  for (const { answer } of readers) await once(answer, 'readable');
  await setTimeout(measured);
  const memory = peakMemory(serving.pid);
  for (const { leave } of readers) leave();
  return memory;
}
