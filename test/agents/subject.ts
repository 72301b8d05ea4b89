import type { Snippet } from '../../lambda/accounts/pages/cli/snippet.js';
import type { Rounds } from '../support/model.ts';

/** Files for a home, and a command to run there. */
export interface Task {
  /** Contents by path in the home. */
  readonly files: Readonly<Record<string, string | Uint8Array>>;
  /** Run by a shell in the folder `work` of that home. */
  readonly command: string;
}

/**
 * What a model asks a client to do: write a note, or two at once; edit a letter; look at a picture; search for a tool; print a
 * lot; write a note and continue when prompted again; add nine lines one after the other.
 */
export type Act = 'write' | 'writeBoth' | 'edit' | 'look' | 'search' | 'printMuch' | 'goOn' | 'tenTurns';

/** A client from the registry, and how to run it with one prompt and no person. */
export interface Subject {
  /** The client's id in lambda/accounts/pages/cli/snippets.js. */
  readonly client: string;
  /** How it differs from its setup block: the dialect that it speaks, the model that it asks for, or the library that it uses. */
  readonly as?: string;
  readonly packages: readonly [main: string, ...others: string[]];
  readonly task: (snippet: Snippet, act: Act | undefined) => Task;
  /** The tool calls of each act that it has tools for, given the folder `work`. */
  readonly acts: Readonly<Partial<Record<Act, (work: string) => Rounds>>>;
  /** The tool that its search finds. */
  readonly finds?: string;
  /** Bytes of the longest request that its model accepts, for a conversation that gets too long. */
  readonly window?: number;
  /** Whether it then compacts the conversation, and continues. */
  readonly shortens?: true;
  /** Whether it does not send the model's reasoning back, or not in a form that its vendor accepts. */
  readonly dropsReasoning?: true;
  /** The words that tell a person what is wrong; empty if it keeps retrying silently. */
  readonly says: Readonly<Record<'badKey' | 'spentQuota' | 'spentBudget', string>> & {
    /** Absent if it recovers, or does not stream. */
    readonly brokenStream?: string;
    /** Absent where it was not run, or exits silently. */
    readonly tooLong?: string;
  };
  /** Settings that keep it from calling home. */
  readonly quiet?: Readonly<Record<string, string>>;
}

/** The gateway's own words, as many clients show them. */
export const usualWords = {
  badKey: 'The API key is unknown',
  spentQuota: 'The quota of',
  spentBudget: 'This request may cost up to',
};
/** From an upstream's own error message for a prompt that is too long. */
export const upstreamLimit = '8192';
export const brokenStream = 'The answer broke off before its end';

/** One row of a table. `faults` is what went wrong. */
export interface Played {
  readonly cells: readonly string[];
  readonly faults: readonly string[];
}

export const prompt = 'Say hello.';
export const nextPrompt = 'Say it again.';

/** The files in `work` that acts read and write. */
export const names = { note: 'note.txt', second: 'second.txt', letter: 'letter.txt', picture: 'picture.png' };

/** A snippet's block, by title. */
export function textOf({ id, blocks }: Snippet, title: string): string {
  const block = blocks.find((one) => one.title === title);
  if (!block) throw new Error(`${id} has no block ${title}`);
  return block.text;
}
