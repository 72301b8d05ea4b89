import type { CallService } from '../../lambda/aws/call-service.ts';
import { minuteOf } from '../../lambda/quota/policy.ts';
import type { Item, Update } from '../../lambda/store/table.ts';
import { beginning, failingOf, requestsOf, type Scenario } from './scenarios.ts';

export type Subject = typeof import('./subject.ts');

/** A call that waits for the store. */
export interface Call {
  readonly operation: string;
  readonly input: Update & { readonly Key: { readonly pk: { readonly S: string } } };
}

/** The same, with the answers to its tries. */
interface OpenCall extends Call {
  readonly tries: string[];
}

/** The outcome of a request, as its client sees it. */
export type Told =
  | { readonly kind: 'granted' | 'refunded'; readonly remaining: number | undefined }
  | { readonly kind: 'refused'; readonly code: string; readonly remaining: number | undefined }
  | { readonly kind: 'refund lost' }
  | { readonly kind: 'failed'; readonly code: string; readonly answerLost: boolean };

/**
 * An event for an environment, and for which of its calls. `sleeps`: it is frozen where it next waits, until time has
 * passed.
 */
export type Meeting = { readonly sleeps?: boolean; readonly of?: number | undefined } & (
  | { readonly kind: 'begins' | 'no answer' | 'throttled' | 'time passes' }
  | { readonly kind: 'answer' | 'refusal'; readonly text: string }
);

/** The state of an environment after its events. */
export interface Standing {
  /** The calls that it waits for, the oldest first; none if it is asleep or has finished. */
  readonly calls: readonly Call[];
  readonly isAsleep: boolean;
  /** What it may remember: the number of answers so far, and the tries of each open call. */
  readonly memory: string;
  readonly told: readonly Told[];
  /** The item that it charges and the minute in which it counts; absent before it begins. */
  readonly counter?: { readonly item: string; readonly minute: number } | undefined;
}

/** The first bytes of the tokens of each environment, in base64. */
export const tokenPrefixes = ['QUFB', 'QkJC', 'Q0ND'];

/** Runs the real code of one environment, with one request or several at once, through these events. */
export async function act(
  subject: Subject,
  scenario: Scenario,
  index: number,
  met: readonly Meeting[],
): Promise<Standing> {
  const plan = scenario.environments[index];
  if (!plan) throw new RangeError(`no environment ${index}`);
  const told: Told[] = [];
  let time = beginning;
  let tokens = 0;
  const open = new Set<OpenCall>();
  const waiting: { readonly call: OpenCall; resolve(answer: object): void; reject(error: Error): void }[] = [];
  let answers = 0;
  let sleeps = false;
  const asleep: (() => void)[] = [];
  let closed = false;
  let counter: Standing['counter'];

  const now = () => time;
  const sleep = async () => {
    if (sleeps && !closed) await new Promise<void>((resolve) => asleep.push(resolve));
  };
  const send = (call: OpenCall) =>
    new Promise<never>((resolve, reject) => {
      counter ??= { item: call.input.Key.pk.S, minute: minuteOf(time) };
      if (closed) reject(new Error('closed'));
      else waiting.push({ call, resolve: resolve as () => void, reject });
    });
  const repeat = subject.createRepeat({ now, random: () => 0, pause: sleep });
  const callDynamoDb: CallService = async (operation, input, signal) => {
    const call = { operation, input: input as Call['input'], tries: [] };
    open.add(call);
    try {
      return await repeat(async () => () => send(call), signal);
    } finally {
      open.delete(call);
    }
  };
  const yesterdays = subject.createYesterdaysCounters(callDynamoDb, 'quota');
  const refund = (item: string, token: string) => yesterdays.refund(item, minuteOf(now()), token);
  const quota = subject.createQuota({
    counters: plan.yesterday ? { ...yesterdays, refund } : subject.createCounters(callDynamoDb, 'quota', now),
    limits: scenario.limits,
    now,
    createToken: () => `${tokenPrefixes[index]}${Buffer.from([tokens++, 0]).toString('base64')}`,
    onLost: (_, operation) => operation === 'refund' && told.push({ kind: 'refund lost' }),
  });

  const request = async (fails: boolean) => {
    if (plan.counting) {
      await quota.checkBurst(plan.identity);
      told.push({ kind: 'granted', remaining: undefined });
      return;
    }
    const charge = await quota.charge(plan.identity, 'req_1');
    told.push({ kind: 'granted', remaining: charge.figures.remaining });
    if (!fails) return;
    // The upstream may fail late.
    await sleep();
    const figures = await charge.refund();
    if (figures) told.push({ kind: 'refunded', remaining: figures.remaining });
    // A second refund changes nothing.
    await charge.refund();
  };

  const tell = (error: unknown) => {
    const { GatewayError, QuotaRefusal } = subject;
    const code = error instanceof GatewayError ? error.code : String(error);
    if (error instanceof QuotaRefusal) told.push({ kind: 'refused', code, remaining: error.figures.remaining });
    else if (code === 'rate_limited') told.push({ kind: 'refused', code, remaining: undefined });
    else
      told.push({ kind: 'failed', code, answerLost: error instanceof GatewayError && error.reason === 'answer_lost' });
  };

  const meet = (meeting: Meeting) => {
    const { kind } = meeting;
    sleeps = meeting.sleeps ?? false;
    if (kind === 'begins') {
      for (let number = 0; number < requestsOf(plan); number += 1) void request(number < failingOf(plan)).catch(tell);
      return;
    }
    if (kind === 'time passes') {
      time += scenario.passing ?? 0;
      for (const wake of asleep.splice(0)) wake();
      return;
    }
    const [waited] = waiting.splice(meeting.of ?? 0, 1);
    if (kind === 'answer' || kind === 'refusal') answers += 1;
    else waited?.call.tries.push(kind);
    if (kind === 'answer') waited?.resolve(JSON.parse(meeting.text));
    else if (kind === 'refusal') waited?.reject(refusal(subject, meeting.text));
    else waited?.reject(trouble(subject, kind));
  };

  for (const meeting of met) {
    meet(meeting);
    await settled();
  }
  const standing = {
    calls: waiting.map(({ call }) => call),
    isAsleep: asleep.length > 0,
    memory: [answers, ...[...open].map(viewOf).sort()].join(),
    told: [...told],
    counter,
  };
  closed = true;
  for (const { reject } of waiting) reject(new Error('closed'));
  for (const wake of asleep) wake();
  return standing;
}

/** What distinguishes a call from others of its environment. */
function viewOf({ input, tries }: OpenCall): string {
  const { UpdateExpression: update = 'GetItem', ExpressionAttributeValues: values } = input;
  const [charges, token] = [values?.[':charges']?.N, values?.[':token']?.B?.slice(4)];
  return [update.replace(/ REMOVE .*/, ''), charges, token, ...tries.toSorted()].join(' ');
}

function refusal({ ServiceError }: Subject, found: string): Error {
  const details = found === '' ? {} : { Item: JSON.parse(found) as Item };
  return new ServiceError('ConditionalCheckFailedException', '', { status: 400, details });
}

function trouble({ ServiceError }: Subject, kind: string): Error {
  if (kind !== 'throttled') return new ServiceError('NoAnswer', '');
  return new ServiceError('ProvisionedThroughputExceededException', '', { status: 400 });
}

/** Resolves when nothing can proceed any further. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
