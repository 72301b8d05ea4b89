import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { KeyIssuing } from '../../lambda/identity/issued-keys.ts';
import { plainJson } from '../../local/plain-text.ts';
import { type Outcome, type TargetOptions, type Terminal, terminal } from '../command-line.ts';
import type { Target } from './target.ts';

/** What commands on a gateway need of the process that they run in. */
export interface Surroundings extends KeyIssuing, Terminal {
  /** Awaited between two pages of a table, so that reading takes nothing from the gateway's own requests. */
  readonly pause: () => Promise<void>;
  readonly openTarget: (options: TargetOptions) => Promise<Target>;
}

export const surroundings: Surroundings = {
  now: Date.now,
  randomBytes,
  ...terminal,
  // Ten pages of a megabyte per second: a tenth of what a new table can serve.
  pause: () => setTimeout(100),
  // Loaded when needed, so that help and wrong usage don't load the SDK.
  openTarget: async (options) => (await import('./target.ts')).openTarget(options),
};

/** Acts on the gateway that the options name, and prints the outcome. */
export async function actOn(
  { openTarget, print }: Surroundings,
  options: TargetOptions,
  act: (target: Target) => Promise<Outcome>,
): Promise<void> {
  await using target = await openTarget(options);
  const { json, text } = await act(target);
  print(options.json ? plainJson(json) : text);
}
