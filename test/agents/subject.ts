import type { Snippet } from '../../lambda/wallet/pages/cli/snippet.js';

/** What is laid out in a home and run there. */
export interface Task {
  /** Texts by their paths below the home. */
  readonly files: Readonly<Record<string, string>>;
  /** Run by a shell in the folder `work` of that home. */
  readonly command: string;
}

/** A client from the registry, and how it is asked one thing without a person in front of it. */
export interface Subject {
  /** The client's id in lambda/wallet/pages/cli/snippets.js. */
  readonly client: string;
  readonly packages: readonly [main: string, ...others: string[]];
  readonly task: (snippet: Snippet, isAboutTool: boolean) => Task;
  /** What a model calls, by the first of these that is offered. */
  readonly calls: readonly { readonly tool: string; readonly input: object }[];
  /** By which words a person knows what is wrong; an empty text where it keeps trying and says nothing. */
  readonly says: {
    readonly badKey: string;
    readonly spentQuota: string;
    /** Left out where it gets over it, or asks for no stream. */
    readonly brokenStream?: string;
  };
  /** What keeps it from calling home. */
  readonly quiet?: Readonly<Record<string, string>>;
}

export const prompt = 'Say hello.';

/** What stands in the folder `work` once a tool has run. */
export const noteName = 'note.txt';

/** A snippet’s block by its title. */
export function textOf({ id, blocks }: Snippet, title: string): string {
  const block = blocks.find((one) => one.title === title);
  if (!block) throw new Error(`${id} has no block ${title}`);
  return block.text;
}
