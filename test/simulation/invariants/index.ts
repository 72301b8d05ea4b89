import { accountsOf, factsOf } from '../facts.ts';
import type { History } from '../world.ts';
import { answers } from './answers.ts';
import { asking } from './asking.ts';
import type { Invariants } from './invariant.ts';
import { limits } from './limits.ts';
import { money } from './money.ts';
import { order } from './order.ts';
import { secrecy } from './secrecy.ts';

/** What holds in every world. */
export const invariants: Invariants = { ...money, ...limits, ...answers, ...asking, ...secrecy, ...order };

export interface Violation {
  /** Its name. */
  readonly invariant: string;
  readonly what: string;
}

/** The first breach of any invariant. */
export function judge(history: History): Violation | undefined {
  const facts = factsOf(history);
  const given = { history, facts, accounts: accountsOf(history, facts) };
  for (const [invariant, { breaches }] of Object.entries(invariants)) {
    for (const what of breaches(given)) return { invariant, what };
  }
  return undefined;
}
