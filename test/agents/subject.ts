import type { Snippet } from '../../lambda/accounts/pages/cli/snippet.js';

/** Files for a home, and a command to run there. */
export interface Task {
  /** Contents by path below the home. */
  readonly files: Readonly<Record<string, string>>;
  /** Run by a shell in the folder `work` of that home. */
  readonly command: string;
}

/** A client from the registry, and how to give it one prompt without a person. */
export interface Subject {
  /** The client's id in lambda/accounts/pages/cli/snippets.js. */
  readonly client: string;
  readonly packages: readonly [main: string, ...others: string[]];
  readonly task: (snippet: Snippet, isAboutTool: boolean) => Task;
  /** The tools that the model may call: the first of these that is offered. */
  readonly calls: readonly { readonly tool: string; readonly input: object }[];
  /** The words that tell a person what is wrong; empty if it keeps trying silently. */
  readonly says: {
    readonly badKey: string;
    readonly spentQuota: string;
    /** Absent if it recovers, or requests no stream. */
    readonly brokenStream?: string;
  };
  /** Settings that keep it from calling home. */
  readonly quiet?: Readonly<Record<string, string>>;
}

export const prompt = 'Say hello.';

/** The contents of the folder `work` once a tool has run. */
export const noteName = 'note.txt';

/** A snippet’s block, by title. */
export function textOf({ id, blocks }: Snippet, title: string): string {
  const block = blocks.find((one) => one.title === title);
  if (!block) throw new Error(`${id} has no block ${title}`);
  return block.text;
}
