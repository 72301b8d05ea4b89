import type { Item } from '../../lambda/store/table.ts';
import type { Call, Meeting, Standing } from './actor.ts';

/** A change that the store has made to a counter for an environment: 1 for a charge, -1 for a refund. */
export interface Applied {
  readonly item: string;
  readonly change: number;
}

export interface EnvironmentState {
  /** Undefined before it begins. */
  readonly actor: Actor | undefined;
  /** Calls that got no answer and may still arrive: at once, after a repeat, or never. */
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

/** An environment after its events. Environments share only the store, so each history is run once, by itself. */
export interface Actor extends Standing {
  readonly index: number;
  readonly met: readonly Meeting[];
  readonly following: Map<string, Actor>;
}

export function isOver({ calls, isAsleep }: Actor): boolean {
  return calls.length === 0 && !isAsleep;
}
