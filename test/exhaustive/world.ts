import { timeLimit } from '../../lambda/settings/refresh.ts';
import type { Item } from '../../lambda/store/dynamodb/table.ts';
import { evaluateUpdate } from '../support/expressions.ts';
import { type ActorEvent, type ActorState, act, type Call, changeOf, type Subject } from './actor.ts';
import type { Step } from './explore.ts';
import type { Scenario } from './scenarios.ts';
import { keyOf, memoize, textOf } from './state-key.ts';

/** An environment after its events. Environments share only the store, so each history is run only once, on its own. */
interface Actor extends ActorState {
  readonly history: readonly ActorEvent[];
  readonly following: Map<ActorEvent, Actor>;
}

export interface EnvironmentState {
  readonly actor: Actor | undefined; // undefined before it starts
  /** Calls without a response that may still arrive: at once, after a retry, or never. */
  readonly late: readonly Call[];
  /** What the store has done for it: 1 for a charge, -1 for a refund. */
  readonly applied: readonly number[];
  /** How often the store has settled its reservation. */
  readonly settlements: number;
  readonly faults: number;
  /** Cached by viewOf. */
  view?: number | undefined;
}

export interface WorldState {
  /** The only caller's item. */
  readonly item: Item | undefined;
  readonly environments: readonly EnvironmentState[];
  readonly timePassed: boolean;
  readonly faultsLeft: number;
}

const isDone = ({ call, isAsleep }: ActorState): boolean => !call && !isAsleep;

/**
 * Work within an environment is atomic, because its order makes no difference. Only time does: an environment may sleep until time
 * has passed, like a frozen Lambda environment.
 */
export function createWorld(subject: Subject, scenario: Scenario, mostFaults: number) {
  const { environments: plans, passing } = scenario;
  const names = plans.map((plan) => JSON.stringify(plan));
  const kinds = names.map((name) => names.indexOf(name));
  const initialActors = plans.map((_, index) => initialActorOf(subject)(scenario, index));
  const timePasses = eventOf('time passes', false, passing);

  const handle = async (index: number, actor: Actor | undefined, event: ActorEvent): Promise<Actor> => {
    if (!actor) throw new RangeError('an environment that has not begun');
    const known = actor.following.get(event);
    if (known) return known;
    const history = [...actor.history, event];
    const next = { ...(await act(subject, scenario, index, history)), history, following: new Map() };
    actor.following.set(event, next);
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
    const present = state.timePassed ? await handle(index, initialActors[index], timePasses) : initialActors[index];
    const actor = await handle(index, present, eventOf('begins'));
    return alter(state, index, () => ({ actor }));
  };

  const passTime = async (before: WorldState): Promise<WorldState> => {
    let state: WorldState = { ...before, timePassed: true };
    for (const [index, { actor }] of before.environments.entries()) {
      if (!actor) state = await begin(state, index);
      else {
        const later = isDone(actor) ? actor : await handle(index, actor, timePasses);
        state = alter(state, index, () => ({ actor: later }));
      }
    }
    return state;
  };

  const canPass = ({ environments: all }: WorldState) =>
    all.some(({ actor, late }) => !actor || !isDone(actor) || late.length > 0);

  /** Whether it may be frozen with this response: before a late refund, or before it leaves its token. */
  const maySleep = (state: WorldState, index: number, call: Call): boolean => {
    const { kind, text } = apply(state, index, call).answer;
    const token = `"${call.input.ExpressionAttributeValues?.[':token']?.B}"`;
    if (kind === 'refusal' && changeOf(call.input).settles) return false; // it writes nothing more
    if (kind === 'refusal' || !call.input.UpdateExpression)
      return call.tries.includes('no answer') && !text.includes(token);
    const { fails, spending } = plans[index] ?? {};
    return (fails || spending !== undefined) && state.environments[index]?.actor?.told.length === 0;
  };

  /** The environments that may start before time passes. The others start after it. */
  const beginnings = (state: WorldState, canSleep: boolean): Step<WorldState>[] => {
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

  /** The calls without a response that may arrive late. If the store refuses one, nobody can tell that it has arrived. */
  const arrivals = (state: WorldState, index: number, late: readonly Call[]): Step<WorldState>[] =>
    late.flatMap((arriving, at) => {
      const { state: after, answer } = apply(state, index, arriving);
      const others = late.filter((other) => other !== arriving);
      const name = `${index + 1} arrives${at === 0 ? '' : ' by its later call'}`;
      return answer.kind === 'answer'
        ? [{ name, take: async () => alter(after, index, () => ({ late: others })) }]
        : [];
    });

  const stepsOf = (state: WorldState, index: number, actor: Actor, canSleep: boolean): Step<WorldState>[] => {
    const { call } = actor;
    const steps: Step<WorldState>[] = [];
    const add = (name: string, take: Step<WorldState>['take']) => steps.push({ name: `${index + 1} ${name}`, take });
    const isAnswered = (call: Call, sleeps: boolean) => async () => {
      const { state: after, answer, asleep } = apply(state, index, call);
      const next = await handle(index, actor, sleeps ? asleep : answer);
      return alter(after, index, () => ({ actor: next }));
    };
    const fails = (next: Actor, isSent: boolean) =>
      alter({ ...state, faultsLeft: state.faultsLeft - 1 }, index, ({ faults, late }) => ({
        // The request may still arrive.
        ...{ actor: next, late: isSent && call ? [...late, call] : late, faults: faults + 1 },
      }));
    if (call) add('is answered', isAnswered(call, false));
    if (call && canSleep && maySleep(state, index, call)) add('is answered, sleeps', isAnswered(call, true));
    if (state.faultsLeft === 0) return steps;
    add('is killed', async () => fails({ ...actor, call: undefined, isAsleep: false }, true));
    // A shorter sleep allows another attempt, which could as well come before it.
    for (const sleeps of call ? [false, ...(canSleep && passing >= timeLimit ? [true] : [])] : []) {
      const suffix = sleeps ? ', sleeps' : '';
      const continueWith = (kind: 'no answer' | 'throttled') => handle(index, actor, eventOf(kind, sleeps));
      add(`gets no answer${suffix}`, async () => fails(await continueWith('no answer'), true));
      add(`is throttled${suffix}`, async () => fails(await continueWith('throttled'), false));
    }
    return steps;
  };

  const notStarted = { actor: undefined, late: [], applied: [], settlements: 0, faults: 0 };
  const environments = plans.map(() => notStarted);
  const first: WorldState = { item: undefined, environments, timePassed: false, faultsLeft: mostFaults };
  return {
    first,

    stepsFrom(state: WorldState): Step<WorldState>[] {
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

/** The environments before they start. Scenarios share those that are alike. */
const initialActorOf = memoize((_: Subject) => {
  const known = new Map<string, Actor>();
  return ({ environments, limits, beginning }: Scenario, index: number): Actor => {
    const name = JSON.stringify([index, environments[index], limits, beginning]);
    const notStarted = { call: undefined, isAsleep: false, memory: '', told: [], history: [], following: new Map() };
    const actor = known.get(name) ?? notStarted;
    known.set(name, actor);
    return actor;
  };
});

const knownEvents = new Map<string, ActorEvent>();
/** Interned, so that what follows them is cached. */
function eventOf(kind: ActorEvent['kind'], sleeps = false, passing = 0): ActorEvent {
  const name = `${kind} ${sleeps} ${passing}`;
  const event = knownEvents.get(name) ?? { kind, sleeps, passing };
  knownEvents.set(name, event);
  return event;
}

const items = new Map<string, Item>();
const nothing: Item = {};

/** The store's response to a call, and the item after it if the call wrote to it. Equal items are interned. */
const outcomesOf = memoize((call: Call) =>
  memoize((item: Item) => findOutcome(call, item === nothing ? undefined : item)),
);
const outcomeOf = (call: Call, before = nothing) => outcomesOf(call)(before);

/** A response, awake and asleep. */
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
