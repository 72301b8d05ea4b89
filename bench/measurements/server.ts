import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { forgetPeak, type Measurement, measureInTurn, peakMemory, processorTime, quantile } from '../measurement.ts';
import { type Load, type Serving, serveInTurn, startServing } from '../serving.ts';
import type { Subject } from '../subject.ts';
import { chatOf, type Question, streamedQuestions } from '../world/conversation.ts';
import type { World } from '../world/world.ts';

const body = chatOf(500, false);
const streams = 128;

/** High concurrency: requests, streams at full speed and at a model's pace, slow readers. */
export const server: Measurement = {
  rounds: 3,
  subjects: ['bareServer', 'server'],
  figures: [
    ['server, 16 clients: requests a second', '', 'rate'],
    ['a request, processor time', 'ms', 'processor'],
    ['the same, 500 requests a second', 'ms', 'processorCalm'],
    ['event of 128 fast chats, processor time', 'µs', 'chat', { to: 'bare', bound: 1.6 }],
    ['event of 128 fast responses streams', 'µs', 'responses', { to: 'bare', bound: 1.6 }],
    ['event of 128 fast messages streams', 'µs', 'messages', { to: 'bare', bound: 1.6 }],
    ['delay of 128 streams beside a 4 MB prompt a second, p99', 'ms', 'late'],
    ['server, 128 slow readers: peak memory', 'MB', 'memory'],
  ],
  async runTogether(subjects, world) {
    const memory = await measureInTurn(subjects, 1, (subject) => measureSlowReaders(subject, world));
    await using started = new AsyncDisposableStack();
    const servings = await startWarm(subjects, world, started);
    const requests = await measureInTurn(servings, 5, measureRequests);
    await world.play(evenly);
    await measureInTurn(servings, 1, measureEvents);
    const events = await measureInTurn(servings, 3, measureEvents);
    const delays = await measureInTurn(servings, 1, (serving) => measureDelay(serving, world));
    return subjects.map((_, at) => ({ ...memory[at], ...requests[at], ...events[at], ...delays[at] }));
  },
};

/** Another gateway that passes chats through, and neither counts nor hides anything: requests, and events at full speed. */
export const peer: Measurement = {
  rounds: 3,
  subjects: ['portkey', 'server'],
  figures: [
    ['server: a request, processor time', 'ms', 'processor', { to: 'portkey', bound: 1 }],
    ['server: event of 128 fast chats', 'µs', 'chat', { to: 'portkey', bound: 0.7 }],
  ],
  async runTogether(subjects, world) {
    await using started = new AsyncDisposableStack();
    const servings = await startWarm(subjects, world, started);
    const requests = await measureInTurn(servings, 5, measureRequests);
    await world.play(evenly);
    await measureInTurn(servings, 1, measureChatEvents);
    const events = await measureInTurn(servings, 3, measureChatEvents);
    return subjects.map((_, at) => ({ ...requests[at], ...events[at] }));
  },
};

/** Starts servers and sends load until V8 has optimized the hot code: a server lives for hours. */
async function startWarm(subjects: readonly Subject[], world: World, started: AsyncDisposableStack) {
  const servings: Serving[] = [];
  for (const subject of subjects) servings.push(started.use(await startServing(subject, world)));
  await world.play({ kind: 'whole' });
  for (const serving of servings) await serveInTurn(serving, body, { clients: streams, more: upTo(8_000) });
  return servings;
}

const upTo = (count: number) => (sent: number) => sent < count;

async function measureRequests(serving: Serving) {
  const costOf = async (count: number, load: Omit<Load, 'more'>) => {
    const { processor, time } = await serving.measure(() => serveInTurn(serving, body, { ...load, more: upTo(count) }));
    return { processor: processor / count, rate: (count / time) * 1000 };
  };
  const busy = await costOf(1_000, { clients: 16 });
  // Little enough for either server.
  const calm = await costOf(500, { clients: 16, pace: 500 });
  return { ...busy, processorCalm: calm.processor };
}

/** Each packet is read by itself, because an event is cheaper the more of them are read at once. */
const count = 640;
const evenly = { kind: 'packets', count, inPacket: 16, pause: 30, lead: 300 } as const;

/** Microseconds of CPU time per event of each dialect. */
async function measureEvents(serving: Serving): Promise<Record<string, number>> {
  const costs: Record<string, number> = {};
  for (const [dialect, question] of Object.entries(streamedQuestions)) costs[dialect] = await costOf(serving, question);
  return costs;
}

const measureChatEvents = async (serving: Serving) => ({ chat: await costOf(serving, streamedQuestions.chat) });

/** The same for one dialect, once all streams have started. */
async function costOf(serving: Serving, question: Question): Promise<number> {
  const answers = await openStreams(serving, question);
  for (const { answer } of answers) await once(answer, 'readable');
  const { processor } = await serving.measure(() =>
    Promise.all(answers.map(({ answer }) => once(answer.resume(), 'end'))),
  );
  return (processor / (streams * count)) * 1000;
}

/** One stream per client. */
const openStreams = (serving: Serving, { body, path }: Question = streamedQuestions.chat) =>
  Promise.all(Array.from({ length: streams }, () => serving.ask(body, { path })));

/**
 * How many milliseconds late events arrive on streams of forty events a second, beside long prompts. Every event carries its time
 * of sending.
 */
async function measureDelay(serving: Serving, world: World) {
  await world.play({ kind: 'clocked', pause: 25 });
  const delays: number[] = [];
  const open = await openStreams(serving);
  for (const { answer } of open) {
    answer.on('data', (piece: Buffer) => {
      const now = Number(process.hrtime.bigint()) / 1e6;
      for (const [, sentAt] of piece.toString().matchAll(/ @(\d+\.\d+)/g)) delays.push(now - Number(sentAt));
    });
  }
  await setTimeout(1_000);
  delays.length = 0;
  await sendPrompts(serving);
  const p99 = quantile(delays, 0.99);
  for (const { leave } of open) leave();
  return { late: p99 };
}

/** A prompt of 4 MB every second, without waiting for the response. */
async function sendPrompts(serving: Serving): Promise<void> {
  const prompt = chatOf(4 * 1024 * 1024, true);
  const until = performance.now() + 4_000;
  while (performance.now() < until) {
    const { leave } = await serving.ask(prompt);
    leave();
    await setTimeout(1_000);
  }
}

/** Peak memory while every client has stopped reading at the start of an endless stream. */
async function measureSlowReaders(subject: Subject, world: World) {
  await world.play({ kind: 'bulk', bytes: Number.MAX_VALUE });
  // In a new process, without garbage to collect.
  await using serving = await startServing(subject, world, streams);
  forgetPeak(serving.pid);
  const readers = await openStreams(serving);
  for (const { answer } of readers) await once(answer, 'readable');
  // Until back-pressure has stopped the upstream.
  for (let used = 0; processorTime(serving.pid) - used > 10; ) {
    used = processorTime(serving.pid);
    await setTimeout(1_000);
  }
  const memory = peakMemory(serving.pid);
  for (const { leave } of readers) leave();
  return { memory };
}
