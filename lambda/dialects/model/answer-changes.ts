export type AnswerChanges = ReturnType<typeof createAnswerChanges>;

/**
 * Where an answer was first changed on its way to the client. Makers sign a thought over all of its answer that came before it, so
 * they don't know a later one again.
 */
export function createAnswerChanges() {
  let first = Number.POSITIVE_INFINITY;
  return {
    /** Notes a change at a place of a whole answer. What is noted of a stream is before all that is read of it later. */
    note(at = 0): void {
      first = Math.min(first, at);
    },
    isBefore: (at = 0): boolean => first <= at,
  };
}
