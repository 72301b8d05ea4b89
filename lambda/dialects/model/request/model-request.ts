import type { Json, Node } from '../../../json/scan.ts';
import type { ClientTool } from '../tools.ts';

/** JSON text, copied from the client's body wherever that has it: a string with its quotes, a number, a schema. */
export type Raw = string;

/** What the client can mark, to have the prompt cached up to its end. */
interface Markable {
  readonly isMarked?: boolean | undefined;
}

export type TextPart = Markable & { readonly kind: 'text'; readonly text: Raw };

export type Part =
  | TextPart
  | (Markable & { readonly kind: 'image'; readonly at: Node; readonly url: Raw; readonly detail?: Raw | undefined })
  | (Markable & { readonly kind: 'audio'; readonly at: Node; readonly audio: Raw })
  | (Markable & { readonly kind: 'file'; readonly at: Node; readonly name: Raw | undefined; readonly data: Raw });

export type Said = Markable & { readonly kind: 'text' | 'refusal'; readonly text: Raw };

/** Reasoning that the model did earlier. With neither it was sealed by someone else. */
export interface ReasoningBlock {
  readonly at: Node;
  readonly text: Raw | undefined;
  /** The blocks that a messages upstream signed, unchanged. */
  readonly signed?: readonly Raw[] | undefined;
}

export interface ToolCall extends Markable {
  readonly at: Node;
  readonly id: Raw;
  readonly tool: ClientTool;
  /** What the tool was called with: JSON, a string that holds JSON, or the free text of a custom tool. */
  readonly form: 'json' | 'string' | 'input';
  readonly given: Raw;
  result?: ToolResult;
}

export interface ToolResult extends Markable {
  readonly at: Node;
  readonly parts: readonly Part[];
  readonly failed: boolean;
  /** The tools that a search found, which is all of its result. */
  readonly found?: readonly ClientTool[];
}

/** All that the model said, thought and called in one go, with what the calls gave. */
export interface AssistantTurn {
  readonly role: 'assistant';
  /** What it said and called, in its order. */
  readonly done: (Said | ToolCall)[];
  /** `after`: how much of that was before. */
  reasoning: (ReasoningBlock & { readonly after: number })[];
}

export const isCall = (one: Said | ToolCall): one is ToolCall => 'tool' in one;

export type Turn =
  | AssistantTurn
  | { readonly role: 'system'; readonly parts: readonly TextPart[] }
  | { readonly role: 'user'; readonly parts: readonly Part[] };

/** A tool that the model may call. */
export interface ToolDefinition extends Markable {
  readonly at: Node;
  /** Whether it stands in the history: it is offered from there on. */
  readonly isLater?: boolean | undefined;
  readonly tool: ClientTool;
  readonly description?: Raw | undefined;
  readonly parameters?: Raw | undefined;
  readonly strict?: Raw | undefined;
  /** What the free text of a custom tool must look like. */
  readonly grammar?: { readonly at: Node; readonly syntax: Raw; readonly definition: Raw } | undefined;
}

export interface ToolChoice {
  readonly at: Node;
  readonly mode: 'auto' | 'none' | 'required';
  /** The tools that may be called; undefined: all. */
  readonly allowed?: readonly { readonly at: Node; readonly tool: ClientTool }[];
  /** The tool that must be called. */
  readonly forced?: ClientTool;
}

/** How much the model is to reason. */
export interface Effort {
  readonly wish?: 'on' | 'off' | undefined;
  /** Where it is switched off; undefined if that is only the dialect's rule for a request that says nothing. */
  readonly offAt?: Node | undefined;
  /** `exact`: named by the client; otherwise derived from a number of tokens. */
  readonly level?: { readonly at: Node; readonly name: string; readonly exact: boolean } | undefined;
}

/** The form that the answer must have: any JSON, or JSON by a schema. */
export type Format =
  | 'json'
  | {
      readonly name: Raw;
      readonly description?: Node | undefined;
      readonly schema: Raw;
      readonly strict: Raw | undefined;
    };

/** What a client asks, whatever its dialect. Valid as long as the body's `Json` is. */
export interface ModelRequest {
  readonly json: Json;
  /** Whether only its tokens are to be counted. */
  readonly isCounted?: boolean;
  /** Whether the model is shown none of its thoughts again. */
  readonly withoutReasoning?: boolean;
  readonly stream: boolean;
  /** Whether a stream is to end with its usage, where that is not a matter of course. */
  readonly streamUsage?: boolean;
  readonly turns: readonly Turn[];
  readonly tools: readonly ToolDefinition[];
  readonly choice: ToolChoice | undefined;
  /** Whether the model may call only one tool at a time. */
  readonly oneCall: boolean;
  readonly limit: Raw | undefined;
  /** Members under the names that chat has for them. */
  readonly sampling: Readonly<Record<string, Raw | undefined>>;
  readonly effort: Effort;
  readonly format: Format | undefined;
  /** What the answer does with thoughts: whether they are shown, and whether they are sealed so that they can come back. */
  readonly reasoning: { readonly shown: boolean; readonly sealed: boolean };
  /** Offers and records that no other dialect has a place for. */
  readonly leftOut: readonly Node[];
  /** Members that the gateway does not know. */
  readonly unread: readonly Node[];
}

/** From little to much. */
const levels = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

/** The highest known level up to the wanted one, or else the lowest; undefined if nobody knows the wanted one. */
export function nearestLevel(wanted: string, known: readonly string[]): string | undefined {
  if (known.includes(wanted)) return wanted;
  const rank = levels.indexOf(wanted);
  if (rank < 0) return undefined;
  const ranked = levels.filter((level) => known.includes(level));
  return ranked.findLast((level) => levels.indexOf(level) <= rank) ?? ranked[0];
}

/** A text as a JSON string. */
export const quote = (text: string): Raw => JSON.stringify(text);

/** What stands between the quotes of a string. */
export const inside = (string: Raw): string => string.slice(1, -1);

/** Strings joined to one. `between` is what stands between them, as it is written in JSON. */
export const joinStrings = (strings: readonly Raw[], between: string): Raw => `"${strings.map(inside).join(between)}"`;

/** A blank line, as it is written in JSON. */
export const paragraph = '\\n\\n';
