/** What the request says about its answer. */
export interface ExpectedAnswer {
  readonly choices: number;
  /** The stop sequences. They are the caller's own text, so showing them reveals nothing. */
  readonly stops: ReadonlySet<string>;
  /** Whether the gateway, not the client, asked for the stream's usage. */
  readonly withholdsUsage?: boolean;
  /** Whether clients join the texts before and after reasoning, so that a name could come together there. */
  readonly joinsTexts?: boolean;
  /**
   * Set if the upstream checks the signature of reasoning that is sent back. `shown`: the client gets it unchanged. `sealed`: the client
   * sends it back in a seal, so names may be hidden in what it reads.
   */
  readonly signedReasoning?: 'shown' | 'sealed' | undefined;
}
