import type { CallService } from '../../lambda/aws/call-service.ts';
import { minuteOf } from '../../lambda/budget/time.ts';
import type { Update } from '../../lambda/store/dynamodb/table.ts';
import { type ClientOutcome, createRequest } from './request.ts';
import type { Scenario } from './scenarios.ts';

export type Subject = typeof import('./subject.ts');

/** A call that waits for the store, with the responses to its attempts so far. */
export interface Call {
  readonly input: Update & { readonly Key: { readonly pk: { readonly S: string } } };
  readonly tries: string[];
}

/** An event for an environment. `sleeps`: it is frozen at its next wait, until time has passed. */
export interface ActorEvent {
  readonly kind: 'begins' | 'answer' | 'refusal' | 'no answer' | 'throttled' | 'time passes';
  readonly text?: string;
  readonly sleeps?: boolean;
  /** The milliseconds that pass. */
  readonly passing?: number;
}

/** The state of an environment after its events. */
export interface ActorState {
  /** The call that it waits for; undefined if it is asleep or has finished. */
  readonly call: Call | undefined;
  readonly isAsleep: boolean;
  /** All that it may remember: the number of answers so far, and its call's attempts. */
  readonly memory: string;
  readonly told: readonly ClientOutcome[];
  /** What it charges, and the minute in which it counts; absent before it starts. */
  readonly counter?: Counter | undefined;
}

export type Counter = {
  readonly item: string;
  readonly used: string;
  readonly minute: number;
  /** The attribute of the budget's period; empty for a caller without one. */
  readonly taken: string;
};

/** The attributes that a call adds to, the charges that it adds, and whether it settles a reservation. */
export function changeOf({ UpdateExpression = '', ExpressionAttributeValues }: Partial<Update>) {
  const [, used = '', value = ''] = /(?:ADD|,) (u\w+) (:\w+)/.exec(UpdateExpression) ?? [];
  const [, taken = ''] = /(?:ADD|,) (b\w+) :\w+/.exec(UpdateExpression) ?? [];
  const settles = /REMOVE #/.test(UpdateExpression) && taken !== '';
  return { used, taken, change: Number(ExpressionAttributeValues?.[value]?.N ?? 0), settles };
}

/** Runs the real code of one environment, with one request, through these events. */
export async function act(subject: Subject, scenario: Scenario, index: number, history: readonly ActorEvent[]) {
  let [time, answers, sleeps, closed] = [scenario.beginning, 0, false, false];
  let current: Call | undefined;
  let waiting: { resolve(answer: object): void; reject(error: Error): void } | undefined;
  let wake: (() => void) | undefined;
  let counter: Counter | undefined;

  const sleep = async () => {
    if (sleeps && !closed) await new Promise<void>((resolve) => (wake = resolve));
  };
  const repeat = subject.createRepeat({ now: () => time, random: () => 0, pause: sleep });
  const callDynamoDb: CallService = (operation, input) => {
    // A read tells what became of the preceding write, whose attempts still count.
    const known = operation === 'GetItem' ? current?.tries : undefined;
    current = { input: input as Call['input'], tries: [...(known ?? [])] };
    const { used, taken } = changeOf(current.input);
    if (used !== '') counter ??= { item: current.input.Key.pk.S, used, taken, minute: minuteOf(time) };
    const send = () =>
      new Promise<never>((resolve, reject) => {
        if (closed) reject(new Error('closed'));
        else waiting = { resolve: resolve as () => void, reject };
      });
    return repeat(send);
  };
  const { told, begin } = createRequest({
    ...{ subject, scenario, index, sleep },
    counters: subject.createCounters(callDynamoDb, 'quota', () => time),
    now: () => time,
  });

  const receive = ({ kind, text = '' }: ActorEvent) => {
    const waiter = waiting;
    waiting = undefined;
    if (kind === 'answer' || kind === 'refusal') answers += 1;
    else current?.tries.push(kind);
    if (kind === 'answer') waiter?.resolve(JSON.parse(text));
    else waiter?.reject(errorOf(subject, kind, text));
  };
  /** Whether to also try freezing the environment before this event. */
  const maySleepBefore = ({ kind }: ActorEvent) =>
    kind === 'refusal' || (kind === 'answer' && !current?.input.UpdateExpression);
  const handle = (event: ActorEvent) => {
    sleeps = event.sleeps ?? false;
    if (event.kind === 'begins') begin();
    else if (event.kind === 'time passes') {
      time += event.passing ?? 0;
      wake?.();
      wake = undefined;
    } else if (sleeps && maySleepBefore(event)) wake = () => receive(event);
    else receive(event);
  };

  for (const event of history) {
    handle(event);
    await new Promise((resolve) => setImmediate(resolve)); // Nothing can proceed any further.
  }
  const isAsleep = wake !== undefined;
  const call = isAsleep || !waiting ? undefined : current;
  const memory = [
    answers,
    waiting !== undefined,
    ...((isAsleep || call) && current ? [viewOfCall(current)] : []),
  ].join();
  const state: ActorState = { call, isAsleep, memory, told: [...told], counter };
  closed = true;
  waiting?.reject(new Error('closed'));
  wake?.();
  return state;
}

/** What distinguishes a call from others of its environment. */
export function viewOfCall({ input, tries }: Call): string {
  const { UpdateExpression: update = '', ExpressionAttributeValues: values } = input;
  return [update.replace(/ REMOVE .*/, ''), values?.[':token']?.B?.slice(4), ...tries.toSorted()].join(' ');
}

function errorOf({ ServiceError }: Subject, kind: string, found: string): Error {
  if (kind === 'no answer') return new ServiceError('NoAnswer', '');
  if (kind === 'throttled') return new ServiceError('ProvisionedThroughputExceededException', '', { status: 400 });
  const details = found === '' ? {} : { Item: JSON.parse(found) };
  return new ServiceError('ConditionalCheckFailedException', '', { status: 400, details });
}
