import type { TokenCounts } from '../../dialects/findings.ts';
import type { ToolNames } from '../tools.ts';
import type { Events } from './events.ts';
import type { Call, Facts, Literal } from './facts.ts';

/** Writes an answer in the client's dialect, from the facts. */
export interface AnswerWriter extends Facts {
  readonly events: Events;
}

/** What a writer has to know besides the facts. */
export interface Writing {
  /** Whether events are written, each as early as possible; otherwise only the whole answer. */
  readonly live: boolean;
  /** The public name of the model. */
  readonly model: string;
  readonly tools: ToolNames;
  /** What the upstream has counted up to now. */
  readonly usage: TokenCounts;
  /** In milliseconds. */
  readonly now: () => number;
  /** 32 random hexadecimal digits. */
  readonly newHex: () => string;
  /** What the model has thought since this was last called, as the upstream sent it. */
  readonly takeThought: () => Literal;
  /** Seals a thought, so that only this gateway can read it; undefined if it is too long to come back. */
  readonly seal: (thought: string) => string | undefined;
}

/** Tokens as all dialects can tell them: the parts are never more than the whole. */
export function countTokens({ input = 0, cacheRead = 0, cacheWrite = 0, output = 0, reasoning = 0 }: TokenCounts) {
  const read = Math.min(cacheRead, input);
  const written = Math.min(cacheWrite, input - read);
  return { input, read, written, output, reasoning: Math.min(reasoning, output) };
}

/** Gives each call an id of its own: the upstream's, unless that is empty or was there before. */
export function createCallIds(prefix: string, newHex: () => string): (call: Call) => string {
  const given = new Set<string>();
  return ({ id }) => {
    const own = id === '' || given.has(id) ? `${prefix}${newHex()}` : id;
    given.add(own);
    return own;
  };
}
