import type { Cooperative } from '../../lambda/json/cooperative.ts';

/** Does work without letting go of it. */
export function atOnce<T>(work: Cooperative<T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}
