import { minuteOf } from '../../lambda/quota/policy.ts';
import type { CallService } from '../../lambda/store/call-service.ts';
import type { Item, Update } from '../../lambda/store/table.ts';
import { beginning, type Scenario } from './scenarios.ts';

export type Subject = typeof import('./subject.ts');

/** A call that waits for the store. */
export interface Call {
  readonly operation: string;
  readonly input: Update & { readonly Key: { readonly pk: { readonly S: string } } };
}

/** What became of a request, as its client is told. */
export type Told =
  | { readonly kind: 'granted' | 'refunded'; readonly remaining: number | undefined }
  | { readonly kind: 'refused'; readonly code: string; readonly remaining: number | undefined }
  | { readonly kind: 'refund lost' }
  | { readonly kind: 'failed'; readonly code: string; readonly answerLost: boolean };

/** What a request can meet. `sleeps`: its environment is frozen where it next waits, until time has passed. */
export type Meeting =
  | { readonly kind: 'begins' | 'no answer' | 'throttled' | 'time passes'; readonly sleeps?: boolean }
  | { readonly kind: 'answer' | 'refusal'; readonly text: string; readonly sleeps?: boolean };

/** Where a request stands after all that it has met. */
export interface Standing {
  /** What it waits for; nothing where it is asleep, or over. */
  readonly call: Call | undefined;
  readonly isAsleep: boolean;
  readonly told: readonly Told[];
  /** The item that it is charged to and the minute that it counts in; absent before it begins. */
  readonly counter?: { readonly item: string; readonly minute: number } | undefined;
}

/** The first bytes of the tokens of each request, in base64. */
export const tokenPrefixes = ['QUFB', 'QkJC', 'Q0ND'];

/** Runs the real code of one request, in an environment of its own, through all that it meets. */
export async function act(
  subject: Subject,
  scenario: Scenario,
  index: number,
  met: readonly Meeting[],
): Promise<Standing> {
  const plan = scenario.requests[index];
  if (!plan) throw new RangeError(`no request ${index}`);
  const told: Told[] = [];
  let time = beginning;
  let waiting: (Call & { resolve(answer: object): void; reject(error: Error): void }) | undefined;
  let sleeps = false;
  let wake: (() => void) | undefined;
  let closed = false;
  let counter: Standing['counter'];

  const now = () => time;
  const sleep = async () => {
    if (sleeps && !closed) await new Promise<void>((resolve) => (wake = resolve));
  };
  const send = (operation: string, input: object) =>
    new Promise<never>((resolve, reject) => {
      const call = { operation, input: input as Call['input'], resolve: resolve as () => void, reject };
      counter ??= { item: call.input.Key.pk.S, minute: minuteOf(time) };
      if (closed) reject(new Error('closed'));
      else waiting = call;
    });
  const repeat = subject.createRepeat({ now, random: () => 0, pause: sleep });
  const callDynamoDb: CallService = (operation, input, signal) =>
    repeat(async () => () => send(operation, input), signal);
  const yesterdays = subject.createYesterdaysCounters(callDynamoDb, 'quota');
  const refund = (item: string, token: string) => yesterdays.refund(item, minuteOf(now()), token);
  const quota = subject.createQuota({
    counters: plan.yesterday ? { ...yesterdays, refund } : subject.createCounters(callDynamoDb, 'quota', now),
    limits: scenario.limits,
    now,
    createToken: () => `${tokenPrefixes[index]}AAA=`,
    onLost: (_, operation) => operation === 'refund' && told.push({ kind: 'refund lost' }),
  });

  const request = async () => {
    if (plan.counting) {
      await quota.checkBurst(plan.identity);
      told.push({ kind: 'granted', remaining: undefined });
      return;
    }
    const charge = await quota.charge(plan.identity);
    told.push({ kind: 'granted', remaining: charge.figures.remaining });
    if (!plan.fails) return;
    // The upstream may take its time to fail.
    await sleep();
    const figures = await charge.refund();
    if (figures) told.push({ kind: 'refunded', remaining: figures.remaining });
    // Whoever asks again gets nothing more.
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
    const call = waiting;
    sleeps = meeting.sleeps ?? false;
    if (kind === 'begins') void request().catch(tell);
    else if (kind === 'time passes') {
      time += scenario.passing ?? 0;
      wake?.();
      wake = undefined;
      return;
    }
    waiting = undefined;
    if (kind === 'answer') call?.resolve(JSON.parse(meeting.text));
    else if (kind === 'refusal') call?.reject(refusal(subject, meeting.text));
    else call?.reject(trouble(subject, kind));
  };

  for (const meeting of met) {
    meet(meeting);
    await settled();
  }
  const call = waiting && { operation: waiting.operation, input: waiting.input };
  const standing = { call, isAsleep: wake !== undefined, told: [...told], counter };
  closed = true;
  waiting?.reject(new Error('closed'));
  wake?.();
  return standing;
}

function refusal({ ServiceError }: Subject, found: string): Error {
  const details = found === '' ? {} : { Item: JSON.parse(found) as Item };
  return new ServiceError('ConditionalCheckFailedException', '', { status: 400, details });
}

function trouble({ ServiceError }: Subject, kind: string): Error {
  if (kind !== 'throttled') return new ServiceError('NoAnswer', '');
  return new ServiceError('ProvisionedThroughputExceededException', '', { status: 400 });
}

/** When all that could go on has gone on. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
