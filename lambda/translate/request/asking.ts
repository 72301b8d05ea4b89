import type { Node } from '../../json/scan.ts';
import type { ClientTool } from '../tools.ts';
import type { Selection } from './offers.ts';
import type { Part, TextPart } from './parts.ts';

/** Reasoning that the model did earlier. Without a text it was sealed by someone else. */
export interface Thought {
  readonly at: Node;
  readonly text: string | undefined;
}

export interface Call {
  readonly at: Node;
  readonly id: string;
  readonly tool: ClientTool;
  /** The arguments as a string that holds JSON. */
  readonly given: string;
  /** What it gave. */
  result?: readonly Part[];
}

/** All that the model said, thought and called in one go, with what the calls gave. */
export interface AssistantTurn {
  readonly role: 'assistant';
  readonly texts: TextPart[];
  readonly refusals: string[];
  thoughts: Thought[];
  readonly calls: Call[];
}

export type Turn = AssistantTurn | { readonly role: 'system' | 'user'; readonly parts: readonly Part[] };

/** How much the model is to reason. */
export interface Reasoning {
  readonly wish?: 'on' | 'off' | undefined;
  /** Where it is switched off; undefined if that is only the dialect's rule for a request that says nothing. */
  readonly offAt?: Node | undefined;
  /** `exact`: named by the client; otherwise derived from a number of tokens. */
  readonly level?: { readonly at: Node; readonly name: string; readonly exact: boolean } | undefined;
}

/** What a client asks, whatever its dialect. */
export interface Asking {
  readonly stream: boolean;
  readonly turns: readonly Turn[];
  readonly tools: Selection;
  /** Whether the model may call only one tool at a time. */
  readonly oneCall: boolean;
  readonly limit: string | undefined;
  /** Members that chat has under the same names. */
  readonly sampling: Readonly<Record<string, string | undefined>>;
  readonly reasoning: Reasoning;
  /** The form that the answer must have, as chat names it. */
  readonly format: string | undefined;
  /** What the answer does with thoughts: whether they are shown, and whether they are sealed so that they can come back. */
  readonly thoughts: { readonly shown: boolean; readonly sealed: boolean };
}
