import type { Subject } from './actor.ts';
import { findFault } from './invariants.ts';
import type { Scenario } from './scenarios.ts';
import { createWorld, type Step, type WorldState } from './world.ts';

/** A shortest schedule that breaks a promise. */
export type Violation = { readonly scenario: string; readonly fault: string; readonly schedule: readonly Step[] };

/** Takes every step of every schedule with at most this many faults. Each state is continued from only once. */
export async function explore(subject: Subject, scenario: Scenario, faults: number, mostSteps = 1_000) {
  const world = createWorld(subject, scenario, faults);
  const known = new Set<string>();
  let violation: Violation | undefined;
  let reached: { state: WorldState; schedule: Step[] }[] = [{ state: world.first, schedule: [] }];
  for (let length = 1; length <= mostSteps && reached.length > 0 && !violation; length += 1) {
    const further: typeof reached = [];
    for (const { state, schedule } of reached) {
      for (const step of world.stepsFrom(state)) {
        const next = await world.take(state, step);
        const longer = [...schedule, step];
        const fault = findFault(scenario, state, next);
        if (fault !== undefined) violation ??= { scenario: scenario.name, fault, schedule: longer };
        const key = world.keyOf(next);
        if (!known.has(key)) further.push({ state: next, schedule: longer });
        known.add(key);
      }
    }
    reached = further;
  }
  return { states: known.size, violation };
}

/** The shortest schedule that breaks a promise, among those with the fewest faults. */
export async function findSmallest(subject: Subject, scenarios: readonly Scenario[]): Promise<Violation | undefined> {
  let smallest: Violation | undefined;
  for (let faults = 0; faults <= 2 && !smallest; faults += 1) {
    for (const scenario of scenarios) {
      const found = await explore(subject, scenario, faults, smallest && smallest.schedule.length - 1);
      smallest = found.violation ?? smallest;
    }
  }
  return smallest;
}
