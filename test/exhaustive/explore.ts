import type { Subject } from './actor.ts';
import { findFault } from './invariants.ts';
import type { Scenario } from './scenarios.ts';
import { createWorld, type WorldState } from './world.ts';

/** A state, and the path to it. Paths share their prefixes, which keeps many of them small. */
interface Reached {
  readonly state: WorldState;
  readonly step?: string;
  readonly from?: Reached;
}

const scheduleTo = ({ step, from }: Reached): string[] => (from && step ? [...scheduleTo(from), step] : []);

/**
 * Takes every step of every schedule with at most this many faults, until one breaks an invariant. That schedule is then a
 * shortest one. Each state is expanded only once.
 */
export async function explore(subject: Subject, scenario: Scenario, faults: number) {
  const world = createWorld(subject, scenario, faults);
  const known = new Set<string>();
  for (let reached: Reached[] = [{ state: world.first }]; reached.length > 0; ) {
    const further: Reached[] = [];
    for (const from of reached) {
      for (const { name: step, take } of world.stepsFrom(from.state)) {
        const next = { state: await take(), step, from };
        const fault = findFault(scenario, from.state, next.state);
        if (fault !== undefined) {
          const violation = { scenario: scenario.name, fault, schedule: scheduleTo(next).join('; ') };
          return { states: known.size, violation };
        }
        const key = world.keyOf(next.state);
        if (!known.has(key)) further.push(next);
        known.add(key);
      }
    }
    reached = further;
  }
  return { states: known.size, violation: undefined };
}

/** A broken invariant, with the fewest faults that break it. */
export async function findViolation(subject: Subject, scenarios: readonly Scenario[]) {
  for (const faults of [0, 1, 2]) {
    for (const scenario of scenarios) {
      const { violation } = await explore(subject, scenario, faults);
      if (violation) return violation;
    }
  }
  return undefined;
}
