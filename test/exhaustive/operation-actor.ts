import { minuteOf } from '../../lambda/budget/time.ts';
import type { Counters } from '../../lambda/store/counters.ts';
import type { ActorState, Counter, Subject } from './actor.ts';
import { createRequest } from './request.ts';
import type { Scenario } from './scenarios.ts';

/** A whole operation of a store, asked for at this time. */
export interface Operation {
  readonly name: 'charge' | 'refund' | 'settle';
  readonly input: readonly unknown[];
  readonly time: number;
}

/** An event for an environment. `sleeps`: it goes on only when time has passed. */
export interface Event {
  readonly kind: 'begins' | 'answer' | 'refused' | 'no answer' | 'time passes';
  /** As JSON; absent for an answer that is undefined. */
  readonly answer?: string | undefined;
  readonly sleeps?: boolean;
}

/** The state of an environment after its events. */
export interface Acted extends Omit<ActorState, 'call' | 'memory'> {
  /** What it waits for. */
  readonly operation: Operation | undefined;
}

type OperationSubject = Pick<Subject, 'createQuota' | 'GatewayError' | 'QuotaRefusal' | 'costOf' | 'outage'>;

/** Runs the real code of one environment, with one request, through these events. The store is not in it: only what it answers. */
export async function actOnStore(
  subject: OperationSubject,
  scenario: Scenario,
  index: number,
  history: readonly Event[],
): Promise<Acted> {
  let [time, sleeps, closed] = [scenario.beginning, false, false];
  let operation: Operation | undefined;
  let waiting: PromiseWithResolvers<unknown> | undefined;
  let wake: (() => void) | undefined;
  let counter: Counter | undefined;

  const ask = <T>(name: Operation['name'], input: readonly unknown[]): Promise<T> => {
    operation = { name, input, time };
    waiting = Promise.withResolvers();
    if (closed) waiting.reject(new Error('closed'));
    return waiting.promise as Promise<T>;
  };
  const counters: Counters = {
    charge: (window, token) => {
      const taken = window.budget ? `b${window.budget.period}` : '';
      counter ??= { item: window.item, used: `u${window.period ?? 'lifetime'}`, taken, minute: minuteOf(time) };
      return ask('charge', [window, token]);
    },
    refund: (...input) => ask('refund', input),
    settle: (...input) => ask('settle', input),
    read: () => Promise.reject(new Error('nobody reads')),
  };
  const sleep = async () => {
    if (sleeps && !closed) await new Promise<void>((resolve) => (wake = resolve));
  };
  const { told, begin } = createRequest({ subject, scenario, index, counters, now: () => time, sleep });
  const handle = ({ kind, answer, sleeps: mustSleep = false }: Event) => {
    sleeps = mustSleep;
    if (kind === 'begins') begin();
    else if (kind === 'time passes') {
      time += scenario.passing;
      wake?.();
      wake = undefined;
    } else {
      const waiter = waiting;
      waiting = undefined;
      if (kind === 'answer') waiter?.resolve(answer === undefined ? undefined : JSON.parse(answer));
      else waiter?.reject(subject.outage(new Error(kind), kind === 'no answer'));
    }
  };

  for (const event of history) {
    handle(event);
    await new Promise((resolve) => setImmediate(resolve)); // Nothing can proceed any further.
  }
  const isAsleep = wake !== undefined;
  const acted = { operation: isAsleep || !waiting ? undefined : operation, isAsleep, told: [...told], counter };
  closed = true;
  waiting?.reject(new Error('closed'));
  wake?.();
  return acted;
}
