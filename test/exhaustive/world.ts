import { timeLimit } from '../../lambda/aws/call-service.ts';
import type { Item } from '../../lambda/store/table.ts';
import { act, type Call, type Meeting, type Standing, type Subject } from './actor.ts';
import { evaluateUpdate } from './expressions.ts';
import { remembering, textOf } from './remembering.ts';
import type { Scenario } from './scenarios.ts';
import { type Actor, type EnvironmentState, isOver, type WorldState } from './state.ts';
import { keyOf } from './state-key.ts';

/**
 * One step of a schedule: `2 is answered` concerns environment 2, `2.3 is answered` its third call. Work inside an
 * environment happens at once, since its order makes no difference. Only time makes one: an environment may sleep until
 * time has passed, as a frozen one does.
 */
export type Step = string;

export interface World {
  readonly first: WorldState;
  /** All steps that may come next. */
  stepsFrom(state: WorldState): Step[];
  take(state: WorldState, step: Step): Promise<WorldState>;
  /** Whether every environment has finished. Late calls may still arrive. */
  isOver(state: WorldState): boolean;
  /** The same for two states with the same future. */
  keyOf(state: WorldState): string;
}

/** Which of the calls without an answer arrives late; there are at most as many as faults. */
const arrivals = ['arrives', 'arrives by its later call'];
const faults = { 'gets no answer': 'no answer', 'is throttled': 'throttled' } as const;

export function createWorld(subject: Subject, scenario: Scenario, mostFaults: number): World {
  const { environments: plans, passing = 0, items = {} } = scenario;
  const names = plans.map((plan) => JSON.stringify(plan));
  const unborn = plans.map((_, index): Actor => ({ ...nowhere, index, met: [], following: new Map() }));

  const meet = async (actor: Actor | undefined, meeting: Meeting): Promise<Actor> => {
    if (!actor) throw new RangeError('an environment that has not begun');
    const name = `${meeting.kind} ${meeting.of} ${meeting.sleeps} ${'text' in meeting ? meeting.text : ''}`;
    const known = actor.following.get(name);
    if (known) return known;
    const met = [...actor.met, meeting];
    const standing = await act(subject, scenario, actor.index, met);
    const next = { ...actor, ...standing, met, following: new Map() };
    actor.following.set(name, next);
    return next;
  };

  const outcomeOf = rememberOutcomes();

  /** Applies an environment's call to the store. */
  const apply = (state: WorldState, index: number, call: Call) => {
    const item = call.input.Key.pk.S;
    const { answer, after, change } = outcomeOf(call, state.items[item]);
    if (!after) return { state, answer };
    const changed = change === 0 ? [] : [{ item, change }];
    return {
      state: {
        ...alter(state, index, ({ applied }) => ({ applied: [...applied, ...changed] })),
        items: { ...state.items, [item]: after },
      },
      answer,
    };
  };

  const begin = async (state: WorldState, index: number): Promise<WorldState> => {
    const present = state.timePassed ? await meet(unborn[index], { kind: 'time passes' }) : unborn[index];
    const actor = await meet(present, { kind: 'begins' });
    return alter(state, index, () => ({ actor }));
  };

  const passTime = async (before: WorldState): Promise<WorldState> => {
    let state: WorldState = { ...before, timePassed: true };
    for (const [index, { actor }] of before.environments.entries()) {
      if (!actor) state = await begin(state, index);
      else if (!isOver(actor)) {
        const later = await meet(actor, { kind: 'time passes' });
        state = alter(state, index, () => ({ actor: later }));
      }
    }
    return state;
  };

  const everybodyIsOver = ({ environments }: WorldState) => environments.every(({ actor }) => actor && isOver(actor));

  return {
    first: {
      items,
      environments: plans.map(() => ({ actor: undefined, late: [], applied: [], faults: 0 })),
      timePassed: false,
      faultsLeft: mostFaults,
    },

    stepsFrom(state) {
      const canSleep = passing > 0 && !state.timePassed;
      if (!state.environments.some(({ actor }) => actor)) return beginnings(names, canSleep);
      const steps: Step[] = [];
      for (const [index, { actor, late }] of state.environments.entries()) {
        const number = index + 1;
        for (const [at, arriving] of late.entries()) {
          // If the store refuses it, nobody can tell that it has arrived.
          const arrives = apply(state, index, arriving).answer.kind === 'answer';
          if (arrives) steps.push(`${number} ${arrivals[at]}`);
        }
        const granted = actor?.told.filter(({ kind }) => kind === 'granted').length ?? 0;
        const canFail = granted < (plans[index]?.failing ?? 0);
        for (const place of actor?.calls.keys() ?? []) {
          const who = place === 0 ? number : `${number}.${place + 1}`;
          steps.push(`${who} is answered`);
          if (canSleep && canFail) steps.push(`${who} is answered, sleeps`);
          if (state.faultsLeft === 0) continue;
          steps.push(...Object.keys(faults).map((fault) => `${who} ${fault}`));
          // A shorter sleep allows another try, which could as well come before it.
          if (canSleep && passing >= timeLimit)
            steps.push(...Object.keys(faults).map((fault) => `${who} ${fault}, sleeps`));
        }
      }
      const waits = !everybodyIsOver(state) || state.environments.some(({ late }) => late.length > 0);
      return canSleep && waits ? [...steps, 'time passes'] : steps;
    },

    async take(state, step) {
      if (step === 'time passes') return passTime(state);
      const [, numbers = '', action = '', sleepy] = /^([\d. ]+) ([^,]*)(, sleeps)?$/.exec(step) ?? [];
      if (action === 'begin') {
        let begun = state;
        for (const number of numbers.split(' ')) begun = await begin(begun, Number(number) - 1);
        return begun;
      }
      const [index, of] = numbers.split('.').map((number) => Number(number) - 1) as [number, number?];
      const sleeps = sleepy !== undefined;
      const { actor, late = [] } = state.environments[index] ?? {};
      const arriving = late[arrivals.indexOf(action)];
      if (arriving) {
        const others = late.filter((call) => call !== arriving);
        return alter(apply(state, index, arriving).state, index, () => ({ late: others }));
      }
      const call = actor?.calls[of ?? 0];
      if (!call) throw new RangeError(`nothing is called at: ${step}`);
      if (action === 'is answered') {
        const { state: after, answer } = apply(state, index, call);
        const next = await meet(actor, { ...answer, of, sleeps });
        return alter(after, index, () => ({ actor: next }));
      }
      const kind = faults[action as keyof typeof faults];
      const next = await meet(actor, { kind, of, sleeps });
      const failed = { ...state, faultsLeft: state.faultsLeft - 1 };
      const arrivingYet = kind === 'no answer' ? [...late, call] : late;
      return alter(failed, index, (one) => ({ actor: next, late: arrivingYet, faults: one.faults + 1 }));
    },

    isOver: everybodyIsOver,
    keyOf: (state) => keyOf(names, state),
  };
}

/** The store's answer to a call, and the item after it if the call wrote to it. */
interface Outcome {
  readonly answer: Meeting & { readonly text: string };
  readonly after?: Item;
  readonly change: number;
}

/** Evaluates each call on each item once, and shares equal items. */
function rememberOutcomes(): (call: Call, before: Item | undefined) => Outcome {
  const known = new Map<string, Item>();
  const find = ({ operation, input }: Call, before: Item | undefined): Outcome => {
    const text = before ? textOf(before) : '';
    if (operation === 'GetItem') return { answer: { kind: 'answer', text: `{"Item":${text || '{}'}}` }, change: 0 };
    const found = evaluateUpdate(before ?? { pk: input.Key.pk }, input);
    if (!found) return { answer: { kind: 'refusal', text }, change: 0 };
    const after = known.get(textOf(found)) ?? found;
    known.set(textOf(after), after);
    const change = Number(after.used?.N ?? 0) - Number(before?.used?.N ?? 0);
    return { answer: { kind: 'answer', text: `{"Attributes":${textOf(after)}}` }, after, change };
  };
  const none: Item = {};
  const outcomesOf = remembering((call: Call) =>
    remembering((before: Item) => find(call, before === none ? undefined : before)),
  );
  return (call, before = none) => outcomesOf(call)(before);
}

const nowhere: Standing = { calls: [], isAsleep: false, memory: '', told: [] };

function alter(
  state: WorldState,
  index: number,
  change: (one: EnvironmentState) => Partial<EnvironmentState>,
): WorldState {
  return {
    ...state,
    environments: state.environments.map((one, at) => (at === index ? { ...one, ...change(one) } : one)),
  };
}

/** Which environments may begin before time passes; the others begin after it. Identical ones are interchangeable. */
function beginnings(plans: readonly string[], canSleep: boolean): Step[] {
  const all = plans.map((_, index) => index);
  const subsets = canSleep
    ? Array.from({ length: 2 ** plans.length - 1 }, (_, bits) => all.filter((index) => ((bits + 1) >> index) & 1))
    : [all];
  const isFirst = (index: number, subset: readonly number[]) =>
    all.every((other) => other >= index || plans[other] !== plans[index] || subset.includes(other));
  return subsets
    .filter((subset) => subset.every((index) => isFirst(index, subset)))
    .map((subset) => `${subset.map((index) => index + 1).join(' ')} begin`);
}
