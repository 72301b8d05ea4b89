import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { forgetPeak, type Measurement, peakMemory, quantile } from '../measurement.ts';
import { type Load, type Serving, serveInTurn, startServing } from '../serving.ts';
import { chatOf, type Question, streamedQuestions } from '../world/conversation.ts';
import type { World } from '../world/world.ts';

const body = chatOf(500, false);
const streams = 128;
const [warmUp, measured] = [1_000, 4_000];

/** Many at once: requests, streams at full speed and at a model's pace, slow readers. */
export const server: Measurement = {
  rounds: 3,
  subjects: ['bareServer', 'server'],
  figures: [
    ['server, 16 clients: requests a second', '', 'rate'],
    ['a request, processor time', 'ms', 'processor', { to: 'bare', bound: 4 }],
    ['the same, 500 requests a second', 'ms', 'processorCalm', { to: 'bare', bound: 2.52 }],
    ['event of 128 fast chats, processor time', 'µs', 'chat', { to: 'bare', bound: 1.27 }],
    ['event of 128 fast responses streams', 'µs', 'responses', { to: 'bare', bound: 1.3 }],
    ['event of 128 fast messages streams', 'µs', 'messages', { to: 'bare', bound: 1.3 }],
    ['delay of 128 streams beside a 4 MB prompt a second, p99', 'ms', 'late', { bound: 50 }],
    ['server, 128 slow readers: peak memory', 'MB', 'memory', { to: 'bare', bound: 1.1 }],
  ],
  async run(subject, world) {
    await using serving = await startServing(subject, world);
    await world.play({ kind: 'whole' });
    // Some ten thousand requests, until V8 has compiled what is hot: a server lives for hours.
    await serveFor(serving, 12_000, { clients: streams });
    const busy = await measureRequests(serving, { clients: 16 });
    // Little enough for either server.
    const calm = await measureRequests(serving, { clients: 16, pace: 500 });
    const chat = await measureFastStreams(serving, world, streamedQuestions.chat);
    const responses = await measureFastStreams(serving, world, streamedQuestions.responses);
    const messages = await measureFastStreams(serving, world, streamedQuestions.messages);
    const late = await measureDelay(serving, world);
    // In a new process, without garbage to collect.
    await using fresh = await startServing(subject, world);
    const memory = await measureSlowReaders(fresh, world);
    return {
      ...{ rate: [busy.rate], processor: [busy.processor], processorCalm: [calm.processor] },
      ...{ chat: [chat], responses: [responses], messages: [messages], late: [late], memory: [memory] },
    };
  },
};

/** So many milliseconds. Gives the number of requests. */
function serveFor(serving: Serving, time: number, load: Omit<Load, 'more'>): Promise<number> {
  const until = performance.now() + time;
  return serveInTurn(serving, body, { ...load, more: () => performance.now() < until });
}

async function measureRequests(serving: Serving, load: Omit<Load, 'more'>) {
  await serveFor(serving, warmUp, load);
  let count = 0;
  const { processor, time } = await serving.measure(async () => {
    count = await serveFor(serving, measured, load);
  });
  return { processor: processor / count, rate: (count / time) * 1000 };
}

/** One of each of so many clients. */
const openStreams = (serving: Serving) =>
  Promise.all(Array.from({ length: streams }, () => serving.ask(streamedQuestions.chat.body)));

/** Microseconds of processor time for an event. */
async function measureFastStreams(serving: Serving, world: World, { body, path }: Question) {
  const readAll = () => serveInTurn(serving, body, { path, clients: streams, more: (sent) => sent < streams });
  await world.play({ kind: 'events', count: 500 });
  await readAll();
  const count = 3_000;
  await world.play({ kind: 'events', count });
  const { processor } = await serving.measure(readAll);
  return (processor / (streams * count)) * 1000;
}

/** Milliseconds that streams at forty events a second each lag behind, beside long prompts. Every event tells when it was sent. */
async function measureDelay(serving: Serving, world: World): Promise<number> {
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
  await sendPrompts(serving);
  const p99 = quantile(delays, 0.99);
  for (const { leave } of open) leave();
  return p99;
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
