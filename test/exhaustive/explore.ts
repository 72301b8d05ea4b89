import type { Subject } from './actor.ts';
import { findFault } from './invariants.ts';
import type { Scenario } from './scenarios.ts';
import { createWorld, type Step, type WorldState } from './world.ts';

/** A shortest schedule that breaks a promise. */
export type Violation = { readonly fault: string; readonly schedule: readonly Step[] };

/** A state, and the way there: sharing their beginnings keeps half a million of them small. */
interface Reached {
  readonly state: WorldState;
  readonly step?: Step;
  readonly from?: Reached;
}

const scheduleTo = ({ step, from }: Reached): Step[] => (from && step ? [...scheduleTo(from), step] : []);

/** Takes every step of every schedule with at most this many faults. Each state is continued from only once. */
export async function explore(subject: Subject, scenario: Scenario, faults: number) {
  const world = createWorld(subject, scenario, faults);
  const known = new Set<string>();
  let violation: Violation | undefined;
  let reached: Reached[] = [{ state: world.first }];
  while (reached.length > 0 && !violation) {
    const further: Reached[] = [];
    for (const from of reached) {
      for (const step of world.stepsFrom(from.state)) {
        const next = { state: await world.take(from.state, step), step, from };
        const fault = findFault(scenario, from.state, next.state);
        if (fault !== undefined) violation ??= { fault, schedule: scheduleTo(next) };
        const key = world.keyOf(next.state);
        if (!known.has(key)) further.push(next);
        known.add(key);
      }
    }
    reached = further;
  }
  return { states: known.size, violation };
}

/** The shortest schedule that breaks a promise, among those with the fewest faults. */
export async function findSmallest(subject: Subject, scenario: Scenario): Promise<Violation | undefined> {
  for (let faults = 0; faults <= 2; faults += 1) {
    const { violation } = await explore(subject, scenario, faults);
    if (violation) return violation;
  }
  return undefined;
}
