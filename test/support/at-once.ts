import type { Work } from '../../lambda/json/turns.ts';

/** Does work without letting go of it. */
export function atOnce<T>(work: Work<T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}
