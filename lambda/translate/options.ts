/** What an operator says of an upstream that speaks chat, because no gateway could guess it. */
export interface ChatUpstream {
  /** What it calls the limit of an answer. */
  readonly limitName: 'max_tokens' | 'max_completion_tokens';
  /** The limit of an answer whose client names none. */
  readonly limit?: number | undefined;
  /** The member by which it is told how much to reason. */
  readonly reasoning: 'none' | 'reasoning_effort' | 'thinking' | 'enable_thinking' | 'chat_template_kwargs';
  /** The levels that it knows, for `reasoning_effort`. */
  readonly levels: readonly string[];
  /** Whether the model's earlier reasoning goes back to it, as `reasoning_content` or as `reasoning`. */
  readonly replay: 'back' | 'back-as-reasoning' | 'never';
  /** System messages after the first user message: folded into the one before, or kept as they are. */
  readonly systemTurns: 'fold' | 'keep';
  /** Where images of a tool's output go: into a user message after it, or into the tool's message. */
  readonly toolImages: 'after' | 'inline' | 'refuse';
  /** What becomes of members that the gateway does not know. */
  readonly unknown: 'leave-out' | 'refuse';
  /** Whether streams are asked for their usage. Some vendors refuse the question, and tell it anyway. */
  readonly streamOptions: 'send' | 'omit';
}
