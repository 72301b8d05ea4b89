import { peakMemory } from '../process-figures.ts';
import { type Session, startSession } from '../session.ts';
import type { Subject } from '../subject.ts';
import type { Shape } from '../world/answers.ts';
import { chatOf, messagesOf, responsesOf } from '../world/conversation.ts';
import type { World } from '../world/world.ts';
import { type Measurement, median, type Samples } from './measurement.ts';

const body = chatOf(500, true);
const responsesBody = responsesOf(500);
const messagesBody = messagesOf(500);
/** How the fast streams are asked for, and how the upstream answers. */
interface Fast {
  ask(session: Session): ReturnType<Session['ask']>;
  readonly shape: Shape;
}
const askChat: Fast['ask'] = (session) => session.ask(body);
const askResponses: Fast['ask'] = (session) => session.ask(responsesBody, undefined, '/v1/responses');
const askMessages: Fast['ask'] = (session) => session.ask(messagesBody, undefined, '/v1/messages');
const chat: Fast = { ask: askChat, shape: 'chat' };
const named: Fast = { ask: askChat, shape: 'named' };
/** By the samples of their costs and of their costs to a chat's. */
type Others = readonly (Fast & { readonly samples: readonly [cost: string, ratio: string] })[];
const filled: Others = [
  { ask: askResponses, shape: 'responses', samples: ['processor', 'ratio'] },
  { ask: askChat, shape: 'openAiChat', samples: ['openAiChat', 'openAiChatRatio'] },
  { ask: askResponses, shape: 'openAiResponses', samples: ['openAiResponses', 'openAiResponsesRatio'] },
  { ask: askChat, shape: 'vllmChat', samples: ['vllmChat', 'vllmChatRatio'] },
];
const translated: Others = [
  { ask: askResponses, shape: 'chat', samples: ['responses', 'responsesRatio'] },
  { ask: askMessages, shape: 'chat', samples: ['messages', 'messagesRatio'] },
];
const [few, many, paced] = [20, 20_000, 1_000];
const warmUp = 30;
const [longWarmUp, longMeasured] = [5, 3];

/** Long streams: at full speed, without and with names to hide; then with a pause before each event. */
export const events: Measurement = {
  rounds: 4,
  subjects: ['bare', 'bareDynamoDb', 'gateway'],
  async run(subject, world) {
    await using session = await startSession(subject, world);
    const plain = await measureFast(session, world, chat);
    const withNames = await measureFast(session, world, named);
    // In a new process: in this one V8 would still be collecting the garbage of the fast streams.
    await using other = await startSession(subject, world);
    const slow = await measurePaced(other, world);
    return {
      processor: plain.costs,
      rate: plain.rates,
      namedProcessor: withNames.costs,
      namedRate: withNames.rates,
      pacedProcessor: [slow.cost],
      delay: slow.delays,
      memory: [peakMemory(session.pid)],
    };
  },
};

/**
 * Events in which more changes than a text, beside those of a chat: numbered ones of the responses dialect, and those of OpenAI and
 * vLLM with their padding and their running usage.
 */
export const otherEvents: Measurement = {
  rounds: 2,
  subjects: ['gateway'],
  run: (subject, world) => compareWithChat(subject, world, filled),
};

/** Events of a chat for clients of the other dialects, beside those that are passed on to a client of chat. */
export const translatedEvents: Measurement = {
  rounds: 2,
  subjects: ['gatewayOfChat'],
  run: (subject, world) => compareWithChat(subject, world, translated),
};

/** Each in a process of its own. */
async function compareWithChat(subject: Subject, world: World, others: Others): Promise<Samples> {
  await using session = await startSession(subject, world);
  const { costs: ofChat } = await measureFast(session, world, chat);
  const samples: Record<string, number[]> = { chat: ofChat };
  for (const {
    samples: [cost, ratio],
    ...fast
  } of others) {
    await using other = await startSession(subject, world);
    const { costs } = await measureFast(other, world, fast);
    samples[cost] = costs;
    samples[ratio] = [median(costs) / median(ofChat)];
  }
  return samples;
}

/** Microseconds per event without a stream's fixed cost (a long stream less a short one), and events a second. */
async function measureFast(session: Session, world: World, { ask, shape }: Fast) {
  const script = { kind: 'events', pause: 0, shape } as const;
  await world.play({ ...script, count: few });
  for (let index = 0; index < warmUp; index += 1) await ask(session);
  const short: number[] = [];
  for (let index = 0; index < 9; index += 1) short.push(await session.costOf(() => ask(session)));
  await world.play({ ...script, count: many });
  // Until V8 has compiled the code that is hot in a long stream.
  for (let index = 0; index < longWarmUp; index += 1) await ask(session);
  const costs: number[] = [];
  const rates: number[] = [];
  for (let index = 0; index < longMeasured; index += 1) {
    const long = await session.costOf(async () => {
      const { headAt, endAt } = await ask(session);
      rates.push((many / (endAt - headAt)) * 1000);
    });
    costs.push(perEvent(long, median(short), many));
  }
  return { costs, rates };
}

/** The same at a model's pace, with the milliseconds from each event's sending to its arrival. */
async function measurePaced(session: Session, world: World) {
  const stream = async (count: number) => {
    await world.play({ kind: 'events', count, pause: 1 });
    const arrivals: number[] = [];
    const sent = world.sentTimes();
    const watch = (piece: Buffer) => {
      const now = Number(process.hrtime.bigint()) / 1e6;
      for (let at = piece.indexOf('\n\n'); at >= 0; at = piece.indexOf('\n\n', at + 2)) arrivals.push(now);
    };
    const cost = await session.costOf(() => session.ask(body, watch));
    arrivals.shift(); // the first event, which is sent with the head
    return { cost, delays: (await sent).map((sentAt, index) => (arrivals[index] ?? Number.NaN) - sentAt) };
  };
  for (let index = 0; index < warmUp; index += 1) await stream(few);
  const short = await stream(few);
  const long = await stream(paced);
  return { cost: perEvent(long.cost, short.cost, paced), delays: [median(long.delays)] };
}

function perEvent(long: number, short: number, count: number): number {
  return ((long - short) / (count - few)) * 1000;
}
