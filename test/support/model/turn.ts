import type { ServerEvent } from '../upstream-script.ts';

/** A turn of the model: it says something or calls a tool. */
export type Turn = { readonly text: string } | { readonly tool: string; readonly input: object };

/** How a dialect writes a turn and reads a request. */
export interface Telling {
  /** The names of the tools that a request offers. */
  readonly toolsOf: (body: Body) => string[];
  /** Whether a request contains the result of a tool. */
  readonly hasResult: (body: Body) => boolean;
  readonly answer: (turn: Turn) => object;
  readonly stream: (turn: Turn) => ServerEvent[];
}

// biome-ignore lint/suspicious/noExplicitAny: the body of a request of any dialect
export type Body = any;
