import type { Json, Node } from '../../../json/scan.ts';
import type { ClientTool } from '../tools.ts';

/** JSON text, taken from the client's body where possible: a string with its quotes, a number, a schema. */
export type Raw = string;

/** What the client can mark to have the prompt cached up to its end. */
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

/** Earlier reasoning of the model. With neither `text` nor `signed`, the gateway can't read it. */
export interface ReasoningBlock {
  readonly at: Node;
  readonly text: Raw | undefined;
  /** The blocks that an upstream of messages signed, unchanged. */
  readonly signed?: readonly Raw[] | undefined;
}

export interface ToolCall extends Markable {
  readonly at: Node;
  readonly id: Raw;
  readonly tool: ClientTool;
  /** The form of the arguments: JSON, a string that holds JSON, or the free text of a custom tool. */
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

/** Everything that the model produced between two user messages: texts, reasoning and tool calls with their results. */
export interface AssistantTurn {
  readonly role: 'assistant';
  /** Texts and tool calls, in order. */
  readonly content: (Said | ToolCall)[];
  /** `after`: the number of elements of `content` before it. */
  reasoning: (ReasoningBlock & { readonly after: number })[];
}

export const isCall = (one: Said | ToolCall): one is ToolCall => 'tool' in one;

export type Turn =
  | AssistantTurn
  | { readonly role: 'system'; readonly parts: readonly TextPart[] }
  | { readonly role: 'user'; readonly parts: readonly Part[] };

export interface ToolDefinition extends Markable {
  readonly at: Node;
  /** Whether it stands in the history, and is offered only from there on. */
  readonly isLater?: boolean | undefined;
  readonly tool: ClientTool;
  readonly description?: Raw | undefined;
  readonly parameters?: Raw | undefined;
  readonly strict?: Raw | undefined;
  /** The grammar of a custom tool's free text. */
  readonly grammar?: { readonly at: Node; readonly syntax: Raw; readonly definition: Raw } | undefined;
}

export interface ToolChoice {
  readonly at: Node;
  readonly mode: 'auto' | 'none' | 'required';
  /** The tools that may be called; all if absent. */
  readonly allowed?: readonly { readonly at: Node; readonly tool: ClientTool }[];
  /** The tool that must be called. */
  readonly forced?: ClientTool;
}

/** How much the model should reason. */
export interface Effort {
  readonly wish?: 'on' | 'off' | undefined;
  /** Where the request switches it off; undefined if it is off by the dialect's default. */
  readonly offAt?: Node | undefined;
  /** `exact`: named by the client, not derived from a token budget. */
  readonly level?: { readonly at: Node; readonly name: string; readonly exact: boolean } | undefined;
}

/** The form of the answer: any JSON, or JSON that matches a schema. */
export type Format =
  | 'json'
  | {
      readonly name: Raw;
      readonly description?: Node | undefined;
      readonly schema: Raw;
      readonly strict: Raw | undefined;
    };

/** A request in neutral form, whatever the client's dialect. Valid as long as the body's `Json` is. */
export interface ModelRequest {
  readonly json: Json;
  /** Whether only to count its tokens. */
  readonly isCounted?: boolean;
  /** Whether to replay no reasoning. */
  readonly withoutReasoning?: boolean;
  readonly stream: boolean;
  /** Whether a stream ends with its usage, in dialects where that is optional. */
  readonly streamUsage?: boolean;
  readonly turns: readonly Turn[];
  readonly tools: readonly ToolDefinition[];
  readonly choice: ToolChoice | undefined;
  /** Whether the model may call only one tool at a time. */
  readonly oneCall: boolean;
  readonly limit: Raw | undefined;
  /** By their names in chat. */
  readonly sampling: Readonly<Record<string, Raw | undefined>>;
  readonly effort: Effort;
  readonly format: Format | undefined;
  /** Whether the answer shows reasoning, and whether it has seals in which the client can send it back. */
  readonly reasoning: { readonly shown: boolean; readonly sealed: boolean };
  /** What no other dialect has a place for. */
  readonly leftOut: readonly Node[];
  /** Members, items and parts that the gateway does not know. */
  readonly unknown: readonly Node[];
}

/** From low to high. */
const levels = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

/** The highest known level up to the wanted one, or else the lowest; undefined if the wanted one is not a level. */
export function nearestLevel(wanted: string, known: readonly string[]): string | undefined {
  if (known.includes(wanted)) return wanted;
  const rank = levels.indexOf(wanted);
  if (rank < 0) return undefined;
  const ranked = levels.filter((level) => known.includes(level));
  return ranked.findLast((level) => levels.indexOf(level) <= rank) ?? ranked[0];
}

export const quote = (text: string): Raw => JSON.stringify(text);

/** A string without its quotes. */
export const inside = (string: Raw): string => string.slice(1, -1);

/** Joins strings into one. `between`: the separator, escaped for JSON. */
export const joinStrings = (strings: readonly Raw[], between: string): Raw => `"${strings.map(inside).join(between)}"`;

/** A blank line, escaped for JSON. */
export const paragraph = '\\n\\n';
