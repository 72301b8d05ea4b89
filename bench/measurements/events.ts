import { type Measurement, median, repeat, type Samples } from '../measurement.ts';
import { type Session, startSession } from '../session.ts';
import type { Subject } from '../subject.ts';
import type { Shape } from '../world/answers.ts';
import { chatOf, messagesOf, responsesOf } from '../world/conversation.ts';
import type { World } from '../world/world.ts';

/** How streams are asked for, and how the upstream answers. */
interface Kind {
  readonly body: string;
  readonly path: string;
  readonly shape: Shape;
}

const chat: Kind = { body: chatOf(500, true), path: '/v1/chat/completions', shape: 'chat' };
const responses: Kind = { body: responsesOf(500), path: '/v1/responses', shape: 'responses' };
const messages: Kind = { body: messagesOf(500), path: '/v1/messages', shape: 'chat' };

/** Long streams at full speed. */
export const events: Measurement = {
  rounds: 4,
  subjects: ['bare', 'bareDynamoDb', 'gateway'],
  figures: [
    ['streamed event, processor time', 'µs', 'processor', { to: 'bare', bound: 2 }],
    ['events a second', '', 'rate', { to: 'bare', bound: 0.6, atLeast: true }],
  ],
  async run(subject, world) {
    await using session = await startSession(subject, world);
    const { costs, rates } = await measure(session, world, chat);
    return { processor: costs, rate: rates };
  },
};

/**
 * Events in which more changes than a text, beside those of a chat: numbered ones of the responses dialect, and those of OpenAI and
 * vLLM with their padding and their running usage.
 */
export const otherEvents: Measurement = {
  rounds: 2,
  subjects: ['gateway'],
  figures: [
    ['event of the responses dialect to one of a chat', '×', 'responses', { bound: 1.2 }],
    ['event of OpenAI’s chat, with filling, to that', '×', 'openAiChat', { bound: 1.3 }],
    ['event of OpenAI’s responses, with filling, to that', '×', 'openAiResponses', { bound: 1.3 }],
    ['event of vLLM’s chat, with running usage, to that', '×', 'vllmChat', { bound: 1.3 }],
  ],
  run: (subject, world) =>
    compareWithChat(subject, world, {
      responses,
      openAiChat: { ...chat, shape: 'openAiChat' },
      openAiResponses: { ...responses, shape: 'openAiResponses' },
      vllmChat: { ...chat, shape: 'vllmChat' },
    }),
};

/** Events of a chat for clients of the other dialects, beside those that are passed on to a client of chat. */
export const translatedEvents: Measurement = {
  rounds: 2,
  subjects: ['gatewayOfChat'],
  gateway: 'gatewayOfChat',
  figures: [
    ['event of a chat passed on, processor time', 'µs', 'chat'],
    ['the same translated to responses, to that', '×', 'responses', { bound: 1.5 }],
    ['the same translated to messages, to that', '×', 'messages', { bound: 1.5 }],
  ],
  run: (subject, world) => compareWithChat(subject, world, { responses: { ...responses, shape: 'chat' }, messages }),
};

/** The ratios of their costs to a chat's, each in a process of its own. */
async function compareWithChat(subject: Subject, world: World, others: Readonly<Record<string, Kind>>) {
  const costsOf = async (kind: Kind) => {
    await using session = await startSession(subject, world);
    return (await measure(session, world, kind)).costs;
  };
  const ofChat = await costsOf(chat);
  const samples: Record<string, Samples[string]> = { chat: ofChat };
  for (const [name, kind] of Object.entries(others)) samples[name] = [median(await costsOf(kind)) / median(ofChat)];
  return samples;
}

const [few, many] = [20, 20_000];

/** Microseconds per event without a stream's fixed cost (a long stream less a short one), and events a second. */
async function measure(session: Session, world: World, { body, path, shape }: Kind) {
  const ask = () => session.ask(body, { path });
  await world.play({ kind: 'events', shape, count: few });
  await repeat(30, ask);
  const short: number[] = [];
  await repeat(9, async () => short.push(await session.costOf(ask)));
  await world.play({ kind: 'events', shape, count: many });
  // Until V8 has compiled the code that is hot in a long stream.
  await repeat(5, ask);
  const [costs, rates]: [number[], number[]] = [[], []];
  await repeat(3, async () => {
    const long = await session.costOf(async () => {
      const { headAt, endAt } = await ask();
      rates.push((many / (endAt - headAt)) * 1000);
    });
    costs.push(((long - median(short)) / (many - few)) * 1000);
  });
  return { costs, rates };
}
