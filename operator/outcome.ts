/** What a command has to say: to a program, and to a person. */
export interface Outcome {
  readonly json: unknown;
  readonly text: string;
  /** What could not be done after all; the rest was. */
  readonly undone?: string;
}
