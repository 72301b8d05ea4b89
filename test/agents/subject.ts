import type { Snippet } from '../../lambda/accounts/pages/cli/snippet.js';
import type { Rounds } from '../support/model.ts';

/** Files for a home, and a command to run there. */
export interface Task {
  /** Contents by path below the home. */
  readonly files: Readonly<Record<string, string | Uint8Array>>;
  /** Run by a shell in the folder `work` of that home. */
  readonly command: string;
}

/** What a model has a client do: write a note or two at once, edit a letter, look at a picture, find a tool, print a lot, write a note and go on when asked again, add nine lines one after the other. */
export type Act = 'write' | 'writeBoth' | 'edit' | 'look' | 'search' | 'printMuch' | 'goOn' | 'tenTurns';

/** A client from the registry, and how to give it one prompt without a person. */
export interface Subject {
  /** The client's id in lambda/accounts/pages/cli/snippets.js. */
  readonly client: string;
  /** How it differs from what its block makes of it: the dialect that it speaks, the model that it asks for, the library that it uses. */
  readonly as?: string;
  readonly packages: readonly [main: string, ...others: string[]];
  readonly task: (snippet: Snippet, act: Act | undefined) => Task;
  /** The calls for each act that it has tools for, given the folder `work`. */
  readonly acts: Readonly<Partial<Record<Act, (work: string) => Rounds>>>;
  /** The tool that its search finds. */
  readonly finds?: string;
  /** Bytes of the longest request that its model reads, for a conversation that gets too long. */
  readonly window?: number;
  /** Whether it then shortens the conversation, and goes on. */
  readonly shortens?: true;
  /** Whether it does not send the model's reasoning back, or not in a form that its maker knows. */
  readonly dropsReasoning?: true;
  /** The words that tell a person what is wrong; empty if it keeps trying silently. */
  readonly says: Readonly<Record<'badKey' | 'spentQuota' | 'spentBudget', string>> & {
    /** Absent if it recovers, or requests no stream. */
    readonly brokenStream?: string;
    /** Absent where it was not run, or ends without a word. */
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
/** Of an upstream's own words for a prompt that is too long. */
export const upstreamLimit = '8192';
export const brokenStream = 'The answer broke off before its end';

/** One row of a table. `faults`: what of it is not as it should be. */
export interface Played {
  readonly cells: readonly string[];
  readonly faults: readonly string[];
}

export const prompt = 'Say hello.';
export const nextPrompt = 'Say it again.';

/** The files below `work` that acts read and write. */
export const names = { note: 'note.txt', second: 'second.txt', letter: 'letter.txt', picture: 'picture.png' };

/** A snippet’s block, by title. */
export function textOf({ id, blocks }: Snippet, title: string): string {
  const block = blocks.find((one) => one.title === title);
  if (!block) throw new Error(`${id} has no block ${title}`);
  return block.text;
}
