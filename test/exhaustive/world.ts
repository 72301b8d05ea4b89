import { timeLimit } from '../../lambda/settings/refresh.ts';
import type { Item } from '../../lambda/store/dynamodb/table.ts';
import { evaluateUpdate } from '../support/expressions.ts';
import { act, type Call, type CounterState, changeOf, type Meeting, type Subject } from './actor.ts';
import type { Scenario } from './scenarios.ts';
import { keyOf, remembering, textOf } from './state-key.ts';

/**
 * One step of a schedule: `2 is answered` concerns environment 2. Work inside an environment happens at once, since its order
 * makes no difference. Only time makes one: an environment may sleep until time has passed, as a frozen one does.
 */
interface Step {
  readonly name: string;
  readonly take: () => Promise<WorldState>;
}

/** An environment after its events. Environments share only the store, so each history is run once, by itself. */
interface Actor extends CounterState {
  readonly met: readonly Meeting[];
  readonly following: Map<Meeting, Actor>;
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
  /** Once it is known. */
  view?: number | undefined;
}

export interface WorldState {
  /** Of the one caller. */
  readonly item: Item | undefined;
  readonly environments: readonly EnvironmentState[];
  readonly timePassed: boolean;
  readonly faultsLeft: number;
}

const isDone = ({ call, isAsleep }: CounterState): boolean => !call && !isAsleep;

export function createWorld(subject: Subject, scenario: Scenario, mostFaults: number) {
  const { environments: plans, passing } = scenario;
  const names = plans.map((plan) => JSON.stringify(plan));
  const kinds = names.map((name) => names.indexOf(name));
  const unborn = plans.map((_, index) => unbornOf(subject)(scenario, index));
  const timePasses = meetingOf('time passes', false, passing);

  const meet = async (index: number, actor: Actor | undefined, meeting: Meeting): Promise<Actor> => {
    if (!actor) throw new RangeError('an environment that has not begun');
    const known = actor.following.get(meeting);
    if (known) return known;
    const met = [...actor.met, meeting];
    const next = { ...(await act(subject, scenario, index, met)), met, following: new Map() };
    actor.following.set(meeting, next);
    return next;
  };

  const apply = (state: WorldState, index: number, call: Call) => {
    const { answer, asleep, after, change, settles } = outcomeOf(call, state.item);
    if (answer.kind === 'refusal' && scenario.refusesBare) return { state, ...bareRefusal };
    if (!after) return { state, answer, asleep };
    const changed = alter(state, index, ({ applied, settlements }) => ({
      applied: change === 0 ? applied : [...applied, change],
      settlements: settlements + (settles ? 1 : 0),
    }));
    return { state: { ...changed, item: after }, answer, asleep };
  };

  const begin = async (state: WorldState, index: number): Promise<WorldState> => {
    const present = state.timePassed ? await meet(index, unborn[index], timePasses) : unborn[index];
    const actor = await meet(index, present, meetingOf('begins'));
    return alter(state, index, () => ({ actor }));
  };

  const passTime = async (before: WorldState): Promise<WorldState> => {
    let state: WorldState = { ...before, timePassed: true };
    for (const [index, { actor }] of before.environments.entries()) {
      if (!actor) state = await begin(state, index);
      else {
        const later = isDone(actor) ? actor : await meet(index, actor, timePasses);
        state = alter(state, index, () => ({ actor: later }));
      }
    }
    return state;
  };

  const canPass = ({ environments: all }: WorldState) =>
    all.some(({ actor, late }) => !actor || !isDone(actor) || late.length > 0);

  /** Whether it may be frozen with this answer: before a late refund, or before it leaves its token. */
  const maySleep = (state: WorldState, index: number, call: Call): boolean => {
    const { kind, text } = apply(state, index, call).answer;
    const token = `"${call.input.ExpressionAttributeValues?.[':token']?.B}"`;
    if (kind === 'refusal' && changeOf(call.input).settles) return false; // It writes no more.
    if (kind === 'refusal' || !call.input.UpdateExpression)
      return call.tries.includes('no answer') && !text.includes(token);
    const { fails, spending } = plans[index] ?? {};
    return (fails || spending !== undefined) && state.environments[index]?.actor?.told.length === 0;
  };

  /** Which environments may begin before time passes; the others begin after it. */
  const beginnings = (state: WorldState, canSleep: boolean): Step[] => {
    const numbers = plans.map((_, index) => index + 1);
    const subset = (bits: number) => numbers.filter((number) => (bits >> (number - 1)) & 1);
    const subsets = Array.from({ length: 2 ** plans.length - 1 }, (_, index) => subset(index + 1));
    return (canSleep ? subsets : [numbers]).map((those) => ({
      name: `${those.join(' ')} begin`,
      async take() {
        let begun = state;
        for (const number of those) begun = await begin(begun, number - 1);
        return begun;
      },
    }));
  };

  /** The calls without an answer that may arrive late. If the store refuses one, nobody can tell that it has arrived. */
  const arrivals = (state: WorldState, index: number, late: readonly Call[]): Step[] =>
    late.flatMap((arriving, at) => {
      const { state: after, answer } = apply(state, index, arriving);
      const others = late.filter((other) => other !== arriving);
      const name = `${index + 1} arrives${at === 0 ? '' : ' by its later call'}`;
      return answer.kind === 'answer'
        ? [{ name, take: async () => alter(after, index, () => ({ late: others })) }]
        : [];
    });

  const stepsOf = (state: WorldState, index: number, actor: Actor, canSleep: boolean): Step[] => {
    const { call } = actor;
    const steps: Step[] = [];
    const add = (name: string, take: Step['take']) => steps.push({ name: `${index + 1} ${name}`, take });
    const isAnswered = (call: Call, sleeps: boolean) => async () => {
      const { state: after, answer, asleep } = apply(state, index, call);
      const next = await meet(index, actor, sleeps ? asleep : answer);
      return alter(after, index, () => ({ actor: next }));
    };
    const fails = (next: Actor, isSent: boolean) =>
      alter({ ...state, faultsLeft: state.faultsLeft - 1 }, index, ({ faults, late }) => ({
        // What it has sent may still arrive.
        ...{ actor: next, late: isSent && call ? [...late, call] : late, faults: faults + 1 },
      }));
    if (call) add('is answered', isAnswered(call, false));
    if (call && canSleep && maySleep(state, index, call)) add('is answered, sleeps', isAnswered(call, true));
    if (state.faultsLeft === 0) return steps;
    add('is killed', async () => fails({ ...actor, call: undefined, isAsleep: false }, true));
    // A shorter sleep allows another try, which could as well come before it.
    for (const sleeps of call ? [false, ...(canSleep && passing >= timeLimit ? [true] : [])] : []) {
      const sleepy = sleeps ? ', sleeps' : '';
      const goesOn = (kind: 'no answer' | 'throttled') => meet(index, actor, meetingOf(kind, sleeps));
      add(`gets no answer${sleepy}`, async () => fails(await goesOn('no answer'), true));
      add(`is throttled${sleepy}`, async () => fails(await goesOn('throttled'), false));
    }
    return steps;
  };

  const nobody = { actor: undefined, late: [], applied: [], settlements: 0, faults: 0 };
  const environments = plans.map(() => nobody);
  const first: WorldState = { item: undefined, environments, timePassed: false, faultsLeft: mostFaults };
  return {
    first,

    stepsFrom(state: WorldState): Step[] {
      const canSleep = passing > 0 && !state.timePassed;
      if (!state.environments.some(({ actor }) => actor)) return beginnings(state, canSleep);
      const steps = state.environments.flatMap(({ actor, late }, index) => [
        ...arrivals(state, index, late),
        ...(actor && !isDone(actor) ? stepsOf(state, index, actor, canSleep) : []),
      ]);
      return canSleep && canPass(state) ? [...steps, { name: 'time passes', take: () => passTime(state) }] : steps;
    },

    keyOf: (state: WorldState) => keyOf(kinds, state),
  };
}

/** The environments of a subject before they begin. Scenarios share those that are alike. */
const unbornOf = remembering((_: Subject) => {
  const known = new Map<string, Actor>();
  return ({ environments, limits, beginning }: Scenario, index: number): Actor => {
    const name = JSON.stringify([index, environments[index], limits, beginning]);
    const nowhere = { call: undefined, isAsleep: false, memory: '', told: [], met: [], following: new Map() };
    const actor = known.get(name) ?? nowhere;
    known.set(name, actor);
    return actor;
  };
});

const meetings = new Map<string, Meeting>();
/** Equal ones are one, so that what follows them is found. */
function meetingOf(kind: Meeting['kind'], sleeps = false, passing = 0): Meeting {
  const name = `${kind} ${sleeps} ${passing}`;
  const meeting = meetings.get(name) ?? { kind, sleeps, passing };
  meetings.set(name, meeting);
  return meeting;
}

const items = new Map<string, Item>();
const nothing: Item = {};

/** The store's answer to a call, and the item after it if the call wrote to it. Equal items are one. */
const outcomesOf = remembering((call: Call) =>
  remembering((item: Item) => findOutcome(call, item === nothing ? undefined : item)),
);
const outcomeOf = (call: Call, before = nothing) => outcomesOf(call)(before);

/** An answer, awake and asleep. */
function says(kind: 'answer' | 'refusal', text: string) {
  const answer = { kind, text, sleeps: false };
  return { answer, asleep: { ...answer, sleeps: true } };
}

const bareRefusal = says('refusal', '');

function findOutcome({ input }: Call, before: Item | undefined) {
  const text = before ? textOf(before) : '';
  const nothingDone = { after: undefined, change: 0, settles: false };
  if (!input.UpdateExpression) return { ...says('answer', text ? `{"Item":${text}}` : '{}'), ...nothingDone };
  const found = evaluateUpdate(before ?? { pk: input.Key.pk }, input);
  if (!found) return { ...says('refusal', text), ...nothingDone };
  const after = items.get(textOf(found)) ?? found;
  items.set(textOf(after), after);
  return { ...says('answer', `{"Attributes":${textOf(after)}}`), ...changeOf(input), after };
}

type Change = (one: EnvironmentState) => Partial<EnvironmentState>;

function alter(state: WorldState, index: number, change: Change): WorldState {
  const environments = state.environments.map((one, at) =>
    at === index ? { ...one, view: undefined, ...change(one) } : one,
  );
  return { ...state, environments };
}
