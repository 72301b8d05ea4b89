import { type Figure, type Measurement, median, repeat } from '../measurement.ts';
import { startSession } from '../session.ts';
import type { Subject, SubjectName } from '../subject.ts';
import { chatOf } from '../world/conversation.ts';
import type { World } from '../world/world.ts';

/** How a stream is asked for. */
interface Request {
  readonly path: string;
  readonly body: string;
}

const chat = chatOf(500, true);
const { model, max_tokens, stream, messages: turns } = JSON.parse(chat);
const [{ content: system }, ...talk] = turns;
/** The same question in each dialect. */
const requests = {
  chat: { path: '/v1/chat/completions', body: chat },
  responses: {
    path: '/v1/responses',
    body: JSON.stringify({ model, max_output_tokens: max_tokens, stream, input: turns }),
  },
  messages: { path: '/v1/messages', body: JSON.stringify({ model, max_tokens, stream, system, messages: talk }) },
} satisfies Record<string, Request>;

/** Long streams at full speed. */
export const events: Measurement = {
  rounds: 4,
  subjects: ['bare', 'bareDynamoDb', 'gateway'],
  figures: [['streamed event, processor time', 'µs', 'processor', { to: 'bare', bound: 2 }]],
  run: async (subject, world) => ({ processor: await measureCosts(subject, world, requests.chat) }),
};

/** Events of an upstream that speaks one dialect for clients of the others, beside those that are passed on. */
function translating(
  subject: SubjectName,
  spoken: keyof typeof requests,
  others: readonly (keyof typeof requests)[],
): Measurement {
  return {
    rounds: 2,
    subjects: [subject],
    figures: [
      [`event of ${spoken} passed on, processor time`, 'µs', spoken],
      ...others.map((other): Figure => [`the same translated to ${other}, to that`, '×', other, { bound: 1.5 }]),
    ],
    async run(started, world) {
      const passedOn = await measureCosts(started, world, requests[spoken]);
      const samples: Record<string, number[]> = { [spoken]: passedOn };
      for (const other of others) {
        samples[other] = [median(await measureCosts(started, world, requests[other])) / median(passedOn)];
      }
      return samples;
    },
  };
}

export const translatedChat = translating('gatewayOfChat', 'chat', ['responses', 'messages']);
export const translatedMessages = translating('gatewayOfMessages', 'messages', ['chat', 'responses']);

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
