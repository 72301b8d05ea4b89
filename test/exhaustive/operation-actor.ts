import { minuteOf } from '../../lambda/budget/time.ts';
import type { Counters } from '../../lambda/store/counters.ts';
import type { ActorState, ClientOutcome, Counter, Subject } from './actor.ts';
import { tokenPrefixes } from './actor.ts';
import { type Plan, prices, type Scenario } from './scenarios.ts';

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
  met: readonly Event[],
): Promise<Acted> {
  const plan = scenario.environments[index] as Plan;
  const told: ClientOutcome[] = [];
  let [time, tokens, sleeps, closed] = [scenario.beginning, 0, false, false];
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
  const quota = subject.createQuota({
    counters,
    limits: scenario.limits,
    now: () => time,
    requestTimeout: 0,
    createToken: () => `${tokenPrefixes[index]}${Buffer.from([tokens++, 0, 0]).toString('base64')}`,
    onLost: (_, lost) => {
      if (lost === 'refund' || lost === 'settlement') told.push({ kind: `${lost} lost` });
    },
    onNearlySpent() {},
    onAbandoned() {},
  });
  const request = async () => {
    const { identity, fails, spending } = plan;
    const cost = spending && { total: spending.reserved, advise: () => undefined };
    const charge = await quota.charge(identity, 'req_1', cost);
    told.push({ kind: 'granted' });
    if (!fails && !spending) return;
    // The upstream may take long.
    if (sleeps && !closed) await new Promise<void>((resolve) => (wake = resolve));
    const used = { kind: 'text', input: 0, output: spending?.tokens ?? 0 } as const;
    const spent = subject.costOf(prices, used);
    const figures = await (fails ? charge.refund() : charge.settle(spent, used));
    if (figures) told.push({ kind: fails ? 'refunded' : 'settled' });
    await charge.settle(spent); // A second one changes nothing,
    await charge.refund(); // nor does the other.
  };
  const tell = (error: unknown) => {
    const [code, reason] = error instanceof subject.GatewayError ? [error.code, error.reason] : [String(error)];
    const kind = error instanceof subject.QuotaRefusal ? 'refused' : 'failed';
    told.push({ kind, code, answerLost: reason === 'answer_lost' });
  };
  const meet = ({ kind, answer, sleeps: mustSleep = false }: Event) => {
    sleeps = mustSleep;
    if (kind === 'begins') void request().catch(tell);
    else if (kind === 'time passes') {
      time += scenario.passing;
      wake?.();
      wake = undefined;
    } else {
      const heard = waiting;
      waiting = undefined;
      if (kind === 'answer') heard?.resolve(answer === undefined ? undefined : JSON.parse(answer));
      else heard?.reject(subject.outage(new Error(kind), kind === 'no answer'));
    }
  };

  for (const event of met) {
    meet(event);
    await new Promise((resolve) => setImmediate(resolve)); // Nothing can proceed any further.
  }
  const isAsleep = wake !== undefined;
  const acted = { operation: isAsleep || !waiting ? undefined : operation, isAsleep, told: [...told], counter };
  closed = true;
  waiting?.reject(new Error('closed'));
  wake?.();
  return acted;
}
