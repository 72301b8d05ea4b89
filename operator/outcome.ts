/** What a command prints: for a program, and for a person. */
export interface Outcome {
  readonly json: unknown;
  readonly text: string;
  /** What could not be done, although the rest was. */
  readonly undone?: string;
}
