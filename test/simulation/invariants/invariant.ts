import type { Account, Fact } from '../facts.ts';
import type { Plan } from '../plan.ts';
import type { History } from '../world.ts';

/** A world that is over. */
interface Case {
  readonly history: History;
  readonly facts: readonly Fact[];
  readonly accounts: readonly Account[];
}

interface Invariant {
  /** What holds in every world. */
  readonly sentence: string;
  /** Each breach of it. */
  readonly breaches: (given: Case) => Iterable<string>;
}

/** By name. */
export type Invariants = Readonly<Record<string, Invariant>>;

/** Whether no process was stopped or died. */
export const isPeaceful = ({ stopsAt, diesAt }: Plan): boolean => stopsAt < 0 && diesAt < 0;

/** Whether nothing failed but what upstreams answer. */
export const isCalm = (plan: Plan): boolean =>
  isPeaceful(plan) && plan.outages.length === 0 && plan.storeFaults.length === 0;

/** How long a disk may keep a request waiting that does not answer. */
export const lostTime = ({ store, storeFaults }: Plan): number =>
  store === 'sqlite' ? 10_000 * storeFaults.filter(({ kind }) => kind.startsWith('lost')).length : 0;
