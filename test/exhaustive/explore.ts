import type { Subject } from './actor.ts';
import { findFault, type SeenState } from './invariants.ts';
import type { Scenario } from './scenarios.ts';
import { createWorld } from './world.ts';

/** One step of a schedule: `2 is answered` concerns environment 2. */
export interface Step<State> {
  readonly name: string;
  readonly take: () => Promise<State>;
}

/** All that can happen in a scenario. */
export interface World<State> {
  readonly first: State;
  readonly stepsFrom: (state: State) => readonly Step<State>[];
  /** Names what of a state makes a difference. */
  readonly keyOf: (state: State) => string;
}

/** A state, and the path to it. Paths share their prefixes, which keeps many of them small. */
interface Reached<State> {
  readonly state: State;
  readonly step?: string;
  readonly from?: Reached<State>;
}

function scheduleTo<State>({ step, from }: Reached<State>): string[] {
  return from && step ? [...scheduleTo(from), step] : [];
}

/** Takes every step of every schedule until one breaks an invariant. That schedule is then a shortest one. Each state is expanded only once. */
export async function exploreWorld<State extends SeenState>(world: World<State>, scenario: Scenario) {
  const known = new Set<string>();
  for (let reached: Reached<State>[] = [{ state: world.first }]; reached.length > 0; ) {
    const further: Reached<State>[] = [];
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

/** Explores the calls to DynamoDB, with at most this many faults. */
export const explore = (subject: Subject, scenario: Scenario, faults: number) =>
  exploreWorld(createWorld(subject, scenario, faults), scenario);

/** A broken invariant, with the fewest faults that break it. */
export async function findViolation(
  scenarios: readonly Scenario[],
  exploreWith: (scenario: Scenario, faults: number) => ReturnType<typeof explore>,
) {
  for (const faults of [0, 1, 2]) {
    for (const scenario of scenarios) {
      const { violation } = await exploreWith(scenario, faults);
      if (violation) return violation;
    }
  }
  return undefined;
}
