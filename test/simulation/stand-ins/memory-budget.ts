import { createBodyBudget as createReal } from '../../../lambda/engines/memory-budget.ts';
import type { Memory } from '../../../lambda/request/memory.ts';
import { here } from './current.ts';

/** The real budget of bodies, with a count of what each request holds of it. */
export function createBodyBudget(bytes: number): { open(): Memory } {
  const budget = createReal(bytes);
  return {
    open() {
      const memory = budget.open();
      const account = here().openMemory();
      return {
        claim: memory.claim,
        take(more, whole) {
          try {
            memory.take(more, whole);
          } catch (error) {
            account.held = 0;
            throw error;
          }
          account.held += more;
        },
        leave(bytes = account.held) {
          account.held -= bytes;
          memory.leave(bytes);
        },
        leaveAllBut(bytes) {
          account.held = Math.min(account.held, bytes);
          memory.leaveAllBut(bytes);
        },
      };
    },
  };
}
