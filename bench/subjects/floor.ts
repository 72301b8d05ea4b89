import { readAwsAccess } from '../../lambda/aws/access.ts';
import { createAws } from '../../lambda/aws/call-service.ts';
import { createToken } from '../../lambda/quota/counter-store.ts';
import { dayOf, minuteOf } from '../../lambda/quota/policy.ts';
import { createCounters } from '../../lambda/tables/counters.ts';
import { keysInTurn } from '../world/store.ts';
import { pipe } from './pipe.ts';

const { callDynamoDb } = createAws(readAwsAccess(process.env), { now: Date.now, random: Math.random });
const counters = createCounters(callDynamoDb, process.env.QUOTA_TABLE ?? '', Date.now);
let charges = 0;

/** The floor for a gateway with quota: a handler that makes one exact charge, and pipes. */
export const handler = awslambda.streamifyResponse(async (event, stream) => {
  const [now, item] = [Date.now(), `floor#${charges++ % keysInTurn}`];
  const window = { item, limit: 1_000_000, burst: 10_000, minute: minuteOf(now), ...dayOf(now) };
  const { granted } = await counters.charge(window, createToken());
  if (!granted) throw new Error('the floor ran into a limit');
  await pipe(event, stream);
});
