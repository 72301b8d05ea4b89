import { type Measurement, median, repeat } from '../measurement.ts';
import { startSession } from '../session.ts';
import type { Subject } from '../subject.ts';
import { chatOf } from '../world/conversation.ts';
import type { World } from '../world/world.ts';

/** How a stream is asked for. */
interface Request {
  readonly path: string;
  readonly body: string;
}

const chat: Request = { path: '/v1/chat/completions', body: chatOf(500, true) };
/** The same question in the other dialects. */
const { model, max_tokens, stream, messages: turns } = JSON.parse(chat.body);
const [{ content: system }, ...talk] = turns;
const responses: Request = {
  path: '/v1/responses',
  body: JSON.stringify({ model, max_output_tokens: max_tokens, stream, input: turns }),
};
const messages: Request = {
  path: '/v1/messages',
  body: JSON.stringify({ model, max_tokens, stream, system, messages: talk }),
};

/** Long streams at full speed. */
export const events: Measurement = {
  rounds: 4,
  subjects: ['bare', 'bareDynamoDb', 'gateway'],
  figures: [['streamed event, processor time', 'µs', 'processor', { to: 'bare', bound: 2 }]],
  run: async (subject, world) => ({ processor: await measureCosts(subject, world, chat) }),
};

/** Events of a chat for clients of the other dialects, beside those that are passed on to a client of chat. */
export const translatedEvents: Measurement = {
  rounds: 2,
  subjects: ['gatewayOfChat'],
  figures: [
    ['event of a chat passed on, processor time', 'µs', 'chat'],
    ['the same translated to responses, to that', '×', 'responses', { bound: 1.5 }],
    ['the same translated to messages, to that', '×', 'messages', { bound: 1.5 }],
  ],
  async run(subject, world) {
    const passedOn = await measureCosts(subject, world, chat);
    const ratioOf = async (request: Request) => [
      median(await measureCosts(subject, world, request)) / median(passedOn),
    ];
    return { chat: passedOn, responses: await ratioOf(responses), messages: await ratioOf(messages) };
  },
};

const [few, many] = [20, 20_000];

/** Microseconds per event in a fresh process, without a stream's fixed cost: a long stream less a short one. */
async function measureCosts(subject: Subject, world: World, { path, body }: Request): Promise<number[]> {
  await using session = await startSession(subject, world);
  const ask = () => session.ask(body, { path });
  const costsOf = async (times: number) => {
    const costs: number[] = [];
    await repeat(times, async () => costs.push(await session.costOf(ask)));
    return costs;
  };
  await world.play({ kind: 'events', count: few });
  await repeat(30, ask);
  const short = median(await costsOf(9));
  await world.play({ kind: 'events', count: many });
  // Until V8 has compiled the code that is hot in a long stream.
  await repeat(5, ask);
  return (await costsOf(3)).map((long) => ((long - short) / (many - few)) * 1000);
}
