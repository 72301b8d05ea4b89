import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { peakMemory } from '../process-figures.ts';
import { type Reading, readAnswer, type Session, startSession } from '../session.ts';
import { chatOf } from '../world/conversation.ts';
import type { World } from '../world/world.ts';
import { type Measurement, median } from './measurement.ts';

const warmUp = 200;
const batches = 4;
const batchSize = 50;

/** Small requests in sequence: first with plain answers, then with short streams. */
export const requests: Measurement = {
  rounds: 4,
  subjects: ['bare', 'bareDynamoDb', 'floor', 'gateway', 'gatewayUncached', 'gatewayGuest', 'gatewayWithPrices'],
  async run(subject, world) {
    await using session = await startSession(subject, world);
    await world.play({ kind: 'whole' });
    const whole = await measure(session, world, chatOf(500, false), ({ endAt }) => endAt);
    await world.play({ kind: 'events', count: 20, pause: 0 });
    const stream = await measure(session, world, chatOf(500, true), ({ firstByteAt }) => firstByteAt);
    return { ...whole, streamAdded: stream.added, memory: [peakMemory(session.pid)] };
  },
};

/**
 * Processor time per request, and the time that the function adds to the same request sent straight to the upstream. Batches
 * of the two alternate.
 */
async function measure(session: Session, { upstreamUrl }: World, body: string, until: (reading: Reading) => number) {
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
    const cost = await session.costOf(async () => {
      time = await repeat(batchSize, through);
    });
    processor.push(cost / batchSize);
    added.push(time - (await repeat(batchSize, direct)));
  }
  agent.destroy();
  return { processor, added };
}

/** Sends a chat straight to the upstream. */
async function askDirectly(agent: Agent, upstreamUrl: string, body: string): Promise<Reading> {
  const askedAt = performance.now();
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  const outgoing = request(`${upstreamUrl}/chat/completions`, { method: 'POST', headers, agent }).end(body);
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
  return { askedAt, headAt: performance.now(), ...(await readAnswer(answer)) };
}
