import type { ServerEvent } from '../upstream-script.ts';

/** What a model does when it is its turn: it says something, or calls a tool. */
export type Turn = { readonly text: string } | { readonly tool: string; readonly input: object };

/** How a dialect tells a turn, and what its requests say. */
export interface Telling {
  /** The names of the tools that a request offers. */
  readonly toolsOf: (body: Body) => string[];
  /** Whether a request brings what a tool has answered. */
  readonly hasResult: (body: Body) => boolean;
  readonly answer: (turn: Turn) => object;
  readonly stream: (turn: Turn) => ServerEvent[];
}

// biome-ignore lint/suspicious/noExplicitAny: the body of a request of any dialect
export type Body = any;
