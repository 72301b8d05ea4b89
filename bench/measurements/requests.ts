import { Agent } from 'node:http';
import { askDirectly } from '../ask-directly.ts';
import { peakMemory } from '../process-figures.ts';
import { type Reading, type Session, startSession } from '../session.ts';
import { median } from '../statistics.ts';
import { chatOf } from '../world/conversation.ts';
import type { World } from '../world/world.ts';
import type { Measurement } from './measurement.ts';

const warmUp = 200;
/** By then V8 has compiled what is hot. */
const longWarmUp = 1_200;
const batches = 4;
const batchSize = 50;

/** Small requests in sequence: first with plain answers, then with short streams. */
export const requests: Measurement = {
  rounds: 4,
  subjects: ['bare', 'bareDynamoDb', 'floor', 'gateway', 'gatewayUncached', 'gatewayGuest'],
  async run(subject, world) {
    await using session = await startSession(subject, world);
    const whole = await measureWhole(session, world, warmUp);
    await world.play({ kind: 'events', count: 20, pause: 0 });
    const firstByte = ({ firstByteAt }: Reading) => firstByteAt;
    const stream = await measure(session, world, chatOf(500, true), firstByte, warmUp, 'streamAdded');
    return { ...whole, streamAdded: stream.added, memory: [peakMemory(session.pid)] };
  },
};

/** Requests with plain answers to a function that has answered many. */
export const warmRequests: Measurement = {
  rounds: 2,
  subjects: ['bare', 'bareDynamoDb', 'floor', 'gateway'],
  async run(subject, world) {
    await using session = await startSession(subject, world);
    return await measureWhole(session, world, longWarmUp);
  },
};

async function measureWhole(session: Session, world: World, warmUp: number) {
  await world.play({ kind: 'whole' });
  const end = ({ endAt }: Reading) => endAt;
  return measure(session, world, chatOf(500, false), end, warmUp, 'processor', 'added');
}

/**
 * Processor time per request, and the time that the function adds to the same request sent straight to the upstream. Batches
 * of the two alternate.
 */
async function measure(
  session: Session,
  { upstreamUrl }: World,
  body: string,
  until: (reading: Reading) => number,
  warmUp: number,
  ...samples: string[]
) {
  const agent = new Agent({ keepAlive: true });
  const repeat = async (count: number, ask: () => Promise<Reading>): Promise<number> => {
    const times: number[] = [];
    for (let index = 0; index < count; index += 1) {
      const reading = await ask();
      times.push(until(reading) - reading.askedAt);
    }
    return median(times);
  };
  const through = () => session.ask(body);
  const direct = () => askDirectly(agent, upstreamUrl, body);

  await repeat(warmUp, through);
  await repeat(batchSize, direct);
  const processor: number[] = [];
  const added: number[] = [];
  for (let batch = 0; batch < batches; batch += 1) {
    let time = 0;
    const cost = await session.costOf(
      async () => {
        time = await repeat(batchSize, through);
      },
      ...samples,
    );
    processor.push(cost / batchSize);
    added.push(time - (await repeat(batchSize, direct)));
  }
  agent.destroy();
  return { processor, added };
}
