import { timeLimit } from '../../lambda/settings/refresh.ts';
import type { Item } from '../../lambda/tables/table.ts';
import { evaluateUpdate } from '../support/expressions.ts';
import { act, type Call, changeOf, type Meeting, type Standing, type Subject } from './actor.ts';
import type { Scenario } from './scenarios.ts';
import { keyOf, remembering, textOf, viewOf } from './state-key.ts';

/**
 * One step of a schedule: `2 is answered` concerns environment 2. Work inside an environment happens at once, since its order
 * makes no difference. Only time makes one: an environment may sleep until time has passed, as a frozen one does.
 */
export type Step = string;

/** An environment after its events. Environments share only the store, so each history is run once, by itself. */
export interface Actor extends Standing {
  readonly met: readonly Meeting[];
  readonly following: Map<string, Actor>;
}

export interface EnvironmentState {
  readonly actor: Actor | undefined; // before it begins
  /** Calls that got no answer and may still arrive: at once, after a repeat, or never. */
  readonly late: readonly Call[];
  /** What the store has done for it: 1 for a charge, -1 for a refund. */
  readonly applied: readonly number[];
  /** How often the store has settled its reservation. */
  readonly settlements: number;
  readonly faults: number;
  readonly view: number;
}

export interface WorldState {
  readonly items: Readonly<Record<string, Item>>;
  readonly environments: readonly EnvironmentState[];
  readonly timePassed: boolean;
  readonly faultsLeft: number;
}

const isDone = ({ call, isAsleep }: Standing): boolean => !call && !isAsleep;
/** Which of the calls without an answer arrives late; there are at most as many as faults. */
const arrivals = ['arrives', 'arrives by its later call'];
const faults = { 'gets no answer': 'no answer', 'is throttled': 'throttled', 'is killed': 'killed' } as const;

export function createWorld(subject: Subject, scenario: Scenario, mostFaults: number) {
  const { environments: plans, passing, isFar } = scenario;
  const names = plans.map((plan) => JSON.stringify(plan));
  const kinds = names.map((name) => names.indexOf(name));
  const nowhere = { call: undefined, isAsleep: false, memory: '', told: [] };
  const unborn = plans.map((): Actor => ({ ...nowhere, met: [], following: new Map() }));
  const outcomeOf = rememberOutcomes();

  const meet = async (index: number, actor: Actor | undefined, meeting: Meeting): Promise<Actor> => {
    if (!actor) throw new RangeError('an environment that has not begun');
    const name = `${meeting.kind} ${meeting.sleeps} ${meeting.text}`;
    const known = actor.following.get(name);
    if (known) return known;
    const met = [...actor.met, meeting];
    const next = { ...(await act(subject, scenario, index, met)), met, following: new Map() };
    actor.following.set(name, next);
    return next;
  };

  const apply = (state: WorldState, index: number, call: Call) => {
    const item = call.input.Key.pk.S;
    const { answer, after, change, settles } = outcomeOf(call, state.items[item]);
    if (!after) return { state, answer };
    const changed = alter(state, index, ({ applied, settlements }) => ({
      applied: change === 0 ? applied : [...applied, change],
      settlements: settlements + (settles ? 1 : 0),
    }));
    return { state: { ...changed, items: { ...state.items, [item]: after } }, answer };
  };

  const begin = async (state: WorldState, index: number): Promise<WorldState> => {
    const present = state.timePassed ? await meet(index, unborn[index], { kind: 'time passes' }) : unborn[index];
    const actor = await meet(index, present, { kind: 'begins' });
    return alter(state, index, () => ({ actor }));
  };

  const passTime = async (before: WorldState): Promise<WorldState> => {
    let state: WorldState = { ...before, timePassed: true };
    for (const [index, { actor, late }] of before.environments.entries()) {
      if (!actor) state = await begin(state, index);
      else {
        const later = isDone(actor) ? actor : await meet(index, actor, { kind: 'time passes' });
        state = alter(state, index, () => ({ actor: later, late: isFar ? [] : late }));
      }
    }
    return state;
  };

  const canPass = ({ environments: all }: WorldState) =>
    all.some(({ actor, late }) => !actor || !isDone(actor) || late.length > 0) &&
    !(isFar && all.some(({ actor }) => actor?.call));

  /** Whether it may be frozen with this answer: before a late refund, or before it leaves its token. */
  const maySleep = (state: WorldState, index: number, call: Call): boolean => {
    const { kind, text } = apply(state, index, call).answer;
    const token = `"${call.input.ExpressionAttributeValues?.[':token']?.B}"`;
    if (kind === 'refusal' && changeOf(call.input).settles) return false; // It writes no more.
    if (kind === 'refusal') return call.tries.includes('no answer') && !text.includes(token);
    const { fails, spending } = plans[index] ?? {};
    return (fails || spending !== undefined) && state.environments[index]?.actor?.told.length === 0;
  };

  const nobody = { actor: undefined, late: [], applied: [], settlements: 0, faults: 0 };
  const environments = plans.map(() => ({ ...nobody, view: viewOf(nobody) }));
  const first: WorldState = { items: {}, environments, timePassed: false, faultsLeft: mostFaults };
  return {
    first,

    stepsFrom(state: WorldState): Step[] {
      const canSleep = passing > 0 && !state.timePassed;
      if (!state.environments.some(({ actor }) => actor)) return beginnings(names, canSleep);
      const steps: Step[] = [];
      for (const [index, { actor, late }] of state.environments.entries()) {
        const number = index + 1;
        for (const [at, arriving] of late.entries()) {
          // If the store refuses it, nobody can tell that it has arrived.
          if (apply(state, index, arriving).answer.kind === 'answer') steps.push(`${number} ${arrivals[at]}`);
        }
        if (!actor || isDone(actor)) continue;
        if (actor.call) steps.push(`${number} is answered`);
        if (actor.call && canSleep && maySleep(state, index, actor.call)) steps.push(`${number} is answered, sleeps`);
        if (state.faultsLeft === 0) continue;
        steps.push(`${number} is killed`);
        if (!actor.call) continue;
        steps.push(`${number} gets no answer`, `${number} is throttled`);
        // A shorter sleep allows another try, which could as well come before it.
        if (canSleep && passing >= timeLimit)
          steps.push(`${number} gets no answer, sleeps`, `${number} is throttled, sleeps`);
      }
      return canSleep && canPass(state) ? [...steps, 'time passes'] : steps;
    },

    async take(state: WorldState, step: Step): Promise<WorldState> {
      if (step === 'time passes') return passTime(state);
      const [, numbers = '', action = '', sleepy] = /^([\d ]+) ([^,]*)(, sleeps)?$/.exec(step) ?? [];
      if (action === 'begin') {
        let begun = state;
        for (const number of numbers.split(' ')) begun = await begin(begun, Number(number) - 1);
        return begun;
      }
      const [index, sleeps] = [Number(numbers) - 1, sleepy !== undefined];
      const { actor, late = [] } = state.environments[index] ?? {};
      const call = actor?.call;
      const arriving = late[arrivals.indexOf(action)];
      if (arriving) {
        const others = late.filter((other) => other !== arriving);
        return alter(apply(state, index, arriving).state, index, () => ({ late: others }));
      }
      if (call && action === 'is answered') {
        const { state: after, answer } = apply(state, index, call);
        const next = await meet(index, actor, { ...answer, sleeps });
        return alter(after, index, () => ({ actor: next }));
      }
      const kind = faults[action as keyof typeof faults];
      const dead = { ...actor, call: undefined, isAsleep: false } as Actor;
      const next = kind === 'killed' ? dead : await meet(index, actor, { kind, sleeps });
      // What it has sent may still arrive.
      const sent = call && kind !== 'throttled' ? [...late, call] : late;
      const failed = { ...state, faultsLeft: state.faultsLeft - 1 };
      return alter(failed, index, (one) => ({ actor: next, late: sent, faults: one.faults + 1 }));
    },

    keyOf: (state: WorldState) => keyOf(kinds, state),
  };
}

/** The store's answer to a call, and the item after it if the call wrote to it. Equal items are shared. */
function rememberOutcomes() {
  const known = new Map<string, Item>();
  const find = ({ input }: Call, before: Item | undefined) => {
    const text = before ? textOf(before) : '';
    const none = { after: undefined, change: 0, settles: false };
    if (!input.UpdateExpression)
      return { ...none, answer: { kind: 'answer' as const, text: `{"Item":${text || '{}'}}` } };
    const found = evaluateUpdate(before ?? { pk: input.Key.pk }, input);
    if (!found) return { ...none, answer: { kind: 'refusal' as const, text } };
    const after = known.get(textOf(found)) ?? found;
    known.set(textOf(after), after);
    const answer = { kind: 'answer' as const, text: `{"Attributes":${textOf(after)}}` };
    return { ...changeOf(input), answer, after };
  };
  const none: Item = {};
  const outcomesOf = remembering((call: Call) =>
    remembering((item: Item) => find(call, item === none ? undefined : item)),
  );
  return (call: Call, before = none) => outcomesOf(call)(before);
}

type Change = (one: EnvironmentState) => Partial<EnvironmentState>;

function alter(state: WorldState, index: number, change: Change): WorldState {
  const environments = state.environments.map((one, at) => {
    if (at !== index) return one;
    const changed = { ...one, ...change(one) };
    return { ...changed, view: viewOf(changed) };
  });
  return { ...state, environments };
}

/** Which environments may begin before time passes; the others begin after it. */
function beginnings(plans: readonly string[], canSleep: boolean): Step[] {
  const numbers = plans.map((_, index) => index + 1);
  const subset = (bits: number) => numbers.filter((number) => (bits >> (number - 1)) & 1);
  const subsets = Array.from({ length: 2 ** plans.length - 1 }, (_, index) => subset(index + 1));
  return (canSleep ? subsets : [numbers]).map((those) => `${those.join(' ')} begin`);
}
