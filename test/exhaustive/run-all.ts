import { expect } from '@jest/globals';
import { explore } from './explore.ts';
import type { Scenario } from './scenarios.ts';
import * as subject from './subject.ts';

// Errors are thrown by the ten thousand here, and their stacks would take most of the time.
Error.stackTraceLimit = 0;

/** Runs every schedule of some scenarios with at most two faults, and prints how many there were. */
export async function runAll(name: string, scenarios: readonly Scenario[]): Promise<void> {
  let [schedules, states] = [0, 0];
  for (const scenario of scenarios) {
    const explored = await explore(subject, scenario, 2);
    expect(explored.violation).toBeUndefined();
    schedules += explored.schedules;
    states += explored.states;
  }
  process.stdout.write(
    `${name}: ${schedules.toLocaleString('en-US')} schedules, ${states.toLocaleString('en-US')} states\n`,
  );
}
