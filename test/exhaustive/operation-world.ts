import type { Subject } from './actor.ts';
import type { Step } from './explore.ts';
import { type Acted, actOnStore, type Event, type Operation } from './operation-actor.ts';
import type { Scenario } from './scenarios.ts';
import type { StoreModel } from './store-models.ts';
import type { EnvironmentState, WorldState } from './world.ts';

/** An environment after its events. Each history is run once. */
interface Actor extends Acted {
  readonly history: readonly Event[];
}

interface Environment extends Omit<EnvironmentState, 'actor' | 'late'> {
  readonly actor: Actor | undefined;
  /** Operations of which nobody has heard, and which may still be carried out. */
  readonly late: readonly Operation[];
}

interface State extends Omit<WorldState, 'environments'> {
  readonly store: string;
  readonly environments: readonly Environment[];
}

/**
 * Environments over a store whose operations are whole: each is answered, or not carried out, or carried out while nobody hears
 * of it, now or later, as when its thread or its process ends. Where time passes, it passes once.
 */
export function createOperationWorld(subject: Subject, model: StoreModel, scenario: Scenario, mostFaults: number) {
  const { environments: plans, passing } = scenario;
  const histories = new Map<string, Promise<Actor>>();

  const handle = (index: number, actor: Actor | undefined, event: Event): Promise<Actor> => {
    const history = [...(actor?.history ?? []), event];
    const name = JSON.stringify([index, history]);
    const known =
      histories.get(name) ?? actOnStore(subject, scenario, index, history).then((acted) => ({ ...acted, history }));
    histories.set(name, known);
    return known;
  };
  const alter = (state: State, index: number, change: Partial<Environment>): State => ({
    ...state,
    environments: state.environments.map((one, at) => (at === index ? { ...one, ...change } : one)),
  });

  const outcomes = new Map<string, ReturnType<StoreModel['apply']>>();
  const apply = (before: string, operation: Operation): ReturnType<StoreModel['apply']> => {
    const name = `${before} ${JSON.stringify(operation)}`;
    const outcome = outcomes.get(name) ?? model.apply(before, operation);
    outcomes.set(name, outcome);
    return outcome;
  };
  const carryOut = async (state: State, index: number, operation: Operation) => {
    const { after, answer } = await apply(state.store, operation);
    if (after === state.store) return { state, answer };
    const { actor, applied = [], settlements = 0 } = state.environments[index] ?? {};
    const item = model.itemIn(after);
    const countIn = (counts: typeof state.item) => Number(counts?.[actor?.counter?.used ?? '']?.N ?? 0);
    const change = countIn(item) - countIn(state.item);
    const changed = alter({ ...state, store: after, item }, index, {
      applied: change === 0 ? applied : [...applied, change],
      settlements: settlements + (operation.name === 'settle' ? 1 : 0),
    });
    return { state: changed, answer };
  };

  const begin = async (state: State, index: number): Promise<State> => {
    const present = state.timePassed ? await handle(index, undefined, { kind: 'time passes' }) : undefined;
    return alter(state, index, { actor: await handle(index, present, { kind: 'begins' }) });
  };

  const passTime = async (before: State): Promise<State> => {
    let state: State = { ...before, timePassed: true };
    for (const [index, { actor }] of before.environments.entries()) {
      state = actor
        ? alter(state, index, { actor: isDone(actor) ? actor : await handle(index, actor, { kind: 'time passes' }) })
        : await begin(state, index);
    }
    return state;
  };

  /** Which environments begin before time passes; the others begin after it. */
  const beginnings = (state: State): Step<State>[] => {
    const numbers = plans.map((_, index) => index + 1);
    const subsets = Array.from({ length: 2 ** plans.length - 1 }, (_, bits) =>
      numbers.filter((number) => ((bits + 1) >> (number - 1)) & 1),
    );
    return (passing > 0 ? subsets : [numbers]).map((those) => ({
      name: `${those.join(' ')} begin`,
      async take() {
        let begun = state;
        for (const number of those) begun = await begin(begun, number - 1);
        return begun;
      },
    }));
  };

  const stepsOf = (state: State, index: number): Step<State>[] => {
    const { actor, late = [], faults = 0 } = state.environments[index] ?? {};
    const steps: Step<State>[] = [];
    const add = (name: string, take: Step<State>['take']) => steps.push({ name: `${index + 1} ${name}`, take });
    for (const operation of late) {
      add(`’s ${operation.name} arrives`, async () => {
        const left = late.filter((other) => other !== operation);
        return alter((await carryOut(state, index, operation)).state, index, { late: left });
      });
    }
    if (!actor?.operation) return steps;
    const { operation } = actor;
    const answer = (sleeps: boolean) => async () => {
      const done = await carryOut(state, index, operation);
      return alter(done.state, index, {
        actor: await handle(index, actor, { kind: 'answer', answer: done.answer, sleeps }),
      });
    };
    add('is answered', answer(false));
    if (passing > 0 && !state.timePassed && operation.name === 'charge') add('is answered, sleeps', answer(true));
    if (state.faultsLeft === 0) return steps;
    const fail = async (next: Actor, isSent: boolean) =>
      alter({ ...state, faultsLeft: state.faultsLeft - 1 }, index, {
        ...{ actor: next, late: isSent ? [...late, operation] : late, faults: faults + 1 },
      });
    add('is not carried out', async () => fail(await handle(index, actor, { kind: 'refused' }), false));
    add('gets no answer', async () => fail(await handle(index, actor, { kind: 'no answer' }), true));
    add('is killed', () => fail({ ...actor, operation: undefined, isAsleep: false }, true));
    return steps;
  };

  const nobody = { actor: undefined, late: [], applied: [], settlements: 0, faults: 0 };
  const first: State = {
    ...{ store: model.empty, item: undefined, environments: plans.map(() => nobody) },
    ...{ timePassed: false, faultsLeft: mostFaults },
  };
  return {
    first,
    stepsFrom(state: State): Step<State>[] {
      if (!state.environments.some(({ actor }) => actor)) return beginnings(state);
      const steps = state.environments.flatMap((_, index) => stepsOf(state, index));
      const isOver = state.environments.every(({ actor, late }) => actor && isDone(actor) && late.length === 0);
      const passes = passing > 0 && !state.timePassed && !isOver;
      return passes ? [...steps, { name: 'time passes', take: () => passTime(state) }] : steps;
    },
    /** What makes a difference to what comes. */
    keyOf: ({ store, environments, timePassed, faultsLeft }: State): string =>
      JSON.stringify([
        ...[store, timePassed, faultsLeft],
        environments.map(({ actor, late, applied, settlements, faults }) => [
          actor && [actor.operation, actor.isAsleep, actor.told],
          ...[late, applied, settlements, faults > 0],
        ]),
      ]),
  };
}

const isDone = ({ operation, isAsleep }: Actor): boolean => !operation && !isAsleep;
