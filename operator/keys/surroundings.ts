import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { KeyIssuing } from '../../lambda/identity/issued-keys.ts';
import { plainJson } from '../../local/plain-text.ts';
import { type Outcome, type TargetOptions, type Terminal, terminal } from '../command-line.ts';
import type { Target } from './target.ts';

/** What the commands need from their process. */
export interface Surroundings extends KeyIssuing, Terminal {
  /** Awaited between pages of a table scan, so that it doesn't use up the throughput that the gateway needs. */
  readonly pause: () => Promise<void>;
  readonly openTarget: (options: TargetOptions) => Promise<Target>;
}

export const surroundings: Surroundings = {
  now: Date.now,
  randomBytes,
  ...terminal,
  // At most ten 1 MB pages per second: a tenth of a new table's read capacity.
  pause: () => setTimeout(100),
  // Lazy, so that help and usage errors don't load the SDK.
  openTarget: async (options) => (await import('./target.ts')).openTarget(options),
};

/** Runs an action on the gateway that the options select, and prints its outcome. */
export async function actOn(
  { openTarget, print }: Surroundings,
  options: TargetOptions,
  act: (target: Target) => Promise<Outcome>,
): Promise<void> {
  await using target = await openTarget(options);
  const { json, text } = await act(target);
  print(options.json ? plainJson(json) : text);
}
