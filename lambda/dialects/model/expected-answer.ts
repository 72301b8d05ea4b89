/** What a request lets us expect of its answer. */
export interface ExpectedAnswer {
  readonly choices: number;
  /** The texts at which to stop. They are the caller's own words, so they reveal nothing to the caller. */
  readonly stops: ReadonlySet<string>;
  /** Whether it was the gateway that asked for usage in the stream. */
  readonly withholdsUsage?: boolean;
  /** Whether the texts around thoughts are read as one, so that no name may come together there. */
  readonly joinsTexts?: boolean;
  /**
   * Where the upstream checks its thoughts when they come back: whether they are shown as they are, or what comes back is sealed and
   * names may be hidden in what is shown.
   */
  readonly signedReasoning?: 'shown' | 'sealed' | undefined;
}
