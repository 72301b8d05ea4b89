import type { Subject } from './actor.ts';
import { findFault } from './invariants.ts';
import type { Scenario } from './scenarios.ts';
import type { WorldState } from './state.ts';
import { createWorld, type Step, type World } from './world.ts';

export interface Violation {
  readonly scenario: string;
  readonly fault: string;
  readonly schedule: readonly Step[];
}

export interface Exploration {
  /** The number of schedules: ways from the beginning to the end of all environments. */
  readonly schedules: number;
  /** The number of different states that they go through. */
  readonly states: number;
  readonly violation?: Violation;
}

/** Runs every schedule of a scenario with at most this many faults. Each state is continued from only once. */
export async function explore(subject: Subject, scenario: Scenario, faults: number): Promise<Exploration> {
  const world = createWorld(subject, scenario, faults);
  const schedulesFrom = new Map<string, number>();
  const schedule: Step[] = [];
  let violation: Violation | undefined;

  const goOn = async (state: WorldState): Promise<number> => {
    const key = world.keyOf(state);
    const known = schedulesFrom.get(key);
    if (known !== undefined) return known;
    let count = world.isOver(state) ? 1 : 0;
    for (const step of world.stepsFrom(state)) {
      schedule.push(step);
      const next = await world.take(state, step);
      const fault = findFault(scenario, state, next);
      if (fault !== undefined) violation ??= { scenario: scenario.name, fault, schedule: [...schedule] };
      if (violation) return count;
      count += await goOn(next);
      schedule.pop();
    }
    schedulesFrom.set(key, count);
    return count;
  };

  const schedules = await goOn(world.first);
  return { schedules, states: schedulesFrom.size, ...(violation && { violation }) };
}

/** The shortest schedule that breaks a promise, among those with the fewest faults. */
export async function findSmallest(
  subject: Subject,
  scenarios: readonly Scenario[],
  mostFaults: number,
): Promise<Violation | undefined> {
  let smallest: Violation | undefined;
  for (let faults = 0; faults <= mostFaults && !smallest; faults += 1) {
    for (const scenario of scenarios) {
      const shorter: number = (smallest?.schedule.length ?? Number.POSITIVE_INFINITY) - 1;
      smallest = (await findShortest(createWorld(subject, scenario, faults), scenario, shorter)) ?? smallest;
    }
  }
  return smallest;
}

async function findShortest(world: World, scenario: Scenario, mostSteps: number): Promise<Violation | undefined> {
  const known = new Set<string>();
  let reached: { readonly state: WorldState; readonly schedule: readonly Step[] }[] = [
    { state: world.first, schedule: [] },
  ];
  for (let steps = 1; steps <= mostSteps && reached.length > 0; steps += 1) {
    const further: typeof reached = [];
    for (const { state, schedule } of reached) {
      for (const step of world.stepsFrom(state)) {
        const next = await world.take(state, step);
        const longer = [...schedule, step];
        const fault = findFault(scenario, state, next);
        if (fault !== undefined) return { scenario: scenario.name, fault, schedule: longer };
        const key = world.keyOf(next);
        if (!known.has(key)) further.push({ state: next, schedule: longer });
        known.add(key);
      }
    }
    reached = further;
  }
  return undefined;
}
