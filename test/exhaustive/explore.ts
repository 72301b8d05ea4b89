import type { Subject } from './actor.ts';
import { findFault } from './invariants.ts';
import type { Scenario } from './scenarios.ts';
import { createWorld, type Step, type WorldState } from './world.ts';

export interface Violation {
  readonly scenario: string;
  readonly fault: string;
  readonly schedule: readonly Step[];
}

export interface Exploration {
  /** The number of different states, and of the steps between them. */
  readonly states: number;
  readonly steps: number;
  /** A shortest schedule that breaks a promise. */
  readonly violation?: Violation;
}

/** Takes every step of every schedule with at most this many faults. Each state is continued from only once. */
export async function explore(
  subject: Subject,
  scenario: Scenario,
  faults: number,
  mostSteps = Number.POSITIVE_INFINITY,
): Promise<Exploration> {
  const world = createWorld(subject, scenario, faults);
  const known = new Set<string>();
  let steps = 0;
  let reached: { readonly state: WorldState; readonly schedule: readonly Step[] }[] = [
    { state: world.first, schedule: [] },
  ];
  for (let length = 1; length <= mostSteps && reached.length > 0; length += 1) {
    const further: typeof reached = [];
    for (const { state, schedule } of reached) {
      for (const step of world.stepsFrom(state)) {
        steps += 1;
        const next = await world.take(state, step);
        const longer = [...schedule, step];
        const fault = findFault(scenario, state, next);
        if (fault !== undefined)
          return { states: known.size, steps, violation: { scenario: scenario.name, fault, schedule: longer } };
        const key = world.keyOf(next);
        if (!known.has(key)) further.push({ state: next, schedule: longer });
        known.add(key);
      }
    }
    reached = further;
  }
  return { states: known.size, steps };
}

/** The shortest schedule that breaks a promise, among those with the fewest faults. */
export async function findSmallest(subject: Subject, scenarios: readonly Scenario[]): Promise<Violation | undefined> {
  let smallest: Violation | undefined;
  for (let faults = 0; faults <= 2 && !smallest; faults += 1) {
    for (const scenario of scenarios) {
      const shorter: number = (smallest?.schedule.length ?? Number.POSITIVE_INFINITY) - 1;
      smallest = (await explore(subject, scenario, faults, shorter)).violation ?? smallest;
    }
  }
  return smallest;
}
