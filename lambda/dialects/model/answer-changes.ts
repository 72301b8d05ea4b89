export type AnswerChanges = ReturnType<typeof createAnswerChanges>;

/**
 * Where an answer was first changed on its way to the client. Providers sign a reasoning block over everything before it in the answer,
 * so they reject the signature of one that comes after a change.
 */
export function createAnswerChanges() {
  let first = Number.POSITIVE_INFINITY;
  return {
    /** Records a change at an offset of a plain answer. In a stream, a change comes before everything that is read later. */
    note(at = 0): void {
      first = Math.min(first, at);
    },
    isBefore: (at = 0): boolean => first <= at,
  };
}
