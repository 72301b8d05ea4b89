/** A command's output, for programs and for people. */
export interface Outcome {
  readonly json: unknown;
  readonly text: string;
  /** The part that could not be done. */
  readonly undone?: string;
}
