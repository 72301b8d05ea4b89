import { readAwsAccess } from '../../lambda/aws/access.ts';
import { createAws } from '../../lambda/aws/call-service.ts';
import { createToken } from '../../lambda/quota/counter-store.ts';
import { dayOf, minuteOf } from '../../lambda/quota/policy.ts';
import { createCounters } from '../../lambda/tables/counters.ts';

/** Makes exact charges as the gateway makes them, to so many counters in turn. */
export function createCharge(counterCount: number): () => Promise<void> {
  const { callDynamoDb } = createAws(readAwsAccess(process.env), { now: Date.now, random: Math.random });
  const counters = createCounters(callDynamoDb, process.env.QUOTA_TABLE ?? '', Date.now);
  let charges = 0;
  return async () => {
    const [now, item] = [Date.now(), `floor#${charges++ % counterCount}`];
    const window = { item, limit: 1_000_000, burst: 10_000, minute: minuteOf(now), ...dayOf(now) };
    const { granted } = await counters.charge(window, createToken());
    if (!granted) throw new Error('the floor ran into a limit');
  };
}
