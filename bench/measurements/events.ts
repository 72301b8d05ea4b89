import { once } from 'node:events';
import {
  type Figure,
  type Measurement,
  measureInTurn,
  measureStep,
  median,
  repeat,
  type Samples,
} from '../measurement.ts';
import { type Session, startSession } from '../session.ts';
import type { Subject, SubjectName } from '../subject.ts';
import { type Question, streamedQuestions } from '../world/conversation.ts';
import type { World } from '../world/world.ts';

/** Events in the client's own dialect; the subjects alternate. */
export const events: Measurement = {
  rounds: 5,
  subjects: ['bare', 'gateway'],
  figures: [
    ['event of a chat, processor time', 'µs', 'chat', { to: 'bare', bound: 1.6 }],
    ['event of a responses stream', 'µs', 'responses', { to: 'bare', bound: 1.6 }],
    ['event of a messages stream', 'µs', 'messages', { to: 'bare', bound: 1.6 }],
  ],
  runTogether: (subjects, world) => measureCosts(subjects, world),
};

/** Events that are translated from the upstream's dialect, compared with those that are passed through. */
function translating(
  subject: SubjectName,
  spoken: keyof typeof streamedQuestions,
  others: readonly (keyof typeof streamedQuestions)[],
): Measurement {
  return {
    rounds: 2,
    subjects: [subject],
    figures: [
      [`event of ${spoken} passed on, processor time`, 'µs', spoken],
      ...others.map((other): Figure => [`the same translated to ${other}, to that`, '×', other]),
    ],
    async run(started, world) {
      const [costs = {}] = await measureCosts([started], world);
      const passedOn = median(costs[spoken] ?? []);
      const samples: Record<string, readonly number[]> = { ...costs };
      for (const other of others) samples[other] = [median(costs[other] ?? []) / passedOn];
      return samples;
    },
  };
}

export const translatedChat = translating('gatewayOfChat', 'chat', ['responses', 'messages']);
export const translatedMessages = translating('gatewayOfMessages', 'messages', ['chat', 'responses']);

/**
 * Microseconds of CPU time per event. The subjects run side by side and alternate many times, so that they share neighbours and
 * clock. Each packet is read by itself, because an event is cheaper the more of them are read at once.
 */
async function measureCosts(subjects: readonly Subject[], world: World): Promise<readonly Samples[]> {
  await using started = new AsyncDisposableStack();
  const sessions: Session[] = [];
  for (const subject of subjects) sessions.push(started.use(await startSession(subject, world)));
  await world.play({ kind: 'events', count: 20 });
  const ways = sessions.flatMap((session) =>
    Object.entries(streamedQuestions).map(([dialect, question]) => ({ session, dialect, question })),
  );
  const readAll = ({ session, question }: (typeof ways)[number]) => session.ask(question.body, question);
  for (const way of ways) await repeat(20, () => readAll(way));
  // Until V8 has optimized the hot code of a long stream.
  await world.play({ kind: 'events', count: 20_000 });
  await repeat(5, async () => {
    for (const way of ways) await readAll(way);
  });
  await world.play({ kind: 'packets', count, inPacket: 16, pause: 1 });
  for (const way of ways) await costOf(way);
  const samples = await measureInTurn(ways, 24, async (way) => ({ [way.dialect]: await costOf(way) }));
  return sessions.map((session) => Object.assign({}, ...samples.filter((_, at) => ways[at]?.session === session)));
}

const count = 1_600;

/** From the first byte on: the request and the response's head are another figure. */
async function costOf({
  session,
  question,
}: {
  readonly session: Session;
  readonly question: Question;
}): Promise<number> {
  const answer = await session.open(question.body, question);
  await once(answer, 'readable');
  const { processor } = await measureStep(session.pid, () => once(answer.resume(), 'end'));
  return (processor / count) * 1000;
}
