import type { TokenCounts } from './findings.ts';

/** The members of a usage that count each kind of tokens, or those of its details. The first that has a count is taken. */
export type UsagePlaces = Readonly<Record<keyof TokenCounts, readonly (readonly [name: string, inner?: string])[]>>;

export const chatUsage: UsagePlaces = {
  input: [['prompt_tokens']],
  // Some servers put it beside the total.
  cacheRead: [['prompt_tokens_details', 'cached_tokens'], ['prompt_cache_hit_tokens'], ['cached_tokens']],
  cacheWrite: [['prompt_tokens_details', 'cache_write_tokens']],
  output: [['completion_tokens']],
  reasoning: [['completion_tokens_details', 'reasoning_tokens']],
};

export const responsesUsage: UsagePlaces = {
  input: [['input_tokens']],
  cacheRead: [['input_tokens_details', 'cached_tokens']],
  cacheWrite: [['input_tokens_details', 'cache_write_tokens']],
  output: [['output_tokens']],
  reasoning: [['output_tokens_details', 'reasoning_tokens']],
};

export const messagesUsage: UsagePlaces = {
  input: [['input_tokens']],
  cacheRead: [['cache_read_input_tokens']],
  cacheWrite: [['cache_creation_input_tokens']],
  output: [['output_tokens']],
  reasoning: [['output_tokens_details', 'thinking_tokens']],
};

/** What any dialect reads of a usage. */
export const readOfUsage: ReadonlySet<string> = new Set([
  'model',
  ...[chatUsage, responsesUsage, messagesUsage].flatMap((usage) =>
    Object.values(usage).flatMap((places) => places.map(([name]) => name)),
  ),
]);
