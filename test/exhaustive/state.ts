import type { Item } from '../../lambda/store/table.ts';
import type { Call, Meeting, Standing } from './actor.ts';

/** A change of a counter that the store has made for an environment: one more for a charge, one less for a refund. */
export interface Applied {
  readonly item: string;
  readonly change: number;
}

export interface EnvironmentState {
  /** Undefined before it begins. */
  readonly actor: Actor | undefined;
  /** Calls that got no answer, and may arrive all the same: at once, after a repeat, or never. */
  readonly late: readonly Call[];
  readonly applied: readonly Applied[];
  readonly faults: number;
}

export interface WorldState {
  readonly items: Readonly<Record<string, Item>>;
  readonly environments: readonly EnvironmentState[];
  readonly timePassed: boolean;
  readonly faultsLeft: number;
}

/** An environment after all that it has met. They share nothing but the store, so each is run alone, and once for that. */
export interface Actor extends Standing {
  readonly index: number;
  readonly met: readonly Meeting[];
  readonly following: Map<string, Actor>;
}

export function isOver({ calls, isAsleep }: Actor): boolean {
  return calls.length === 0 && !isAsleep;
}
