import {
  type AssistantTurn,
  isCall,
  type Part,
  type Raw,
  type ReasoningBlock,
  type ToolCall,
  type Turn,
} from '../model/request/model-request.ts';
import type { RequestWriter } from '../model/request/request-writer.ts';
import type { Selection } from '../model/request/select-tools.ts';

/** Whether a reasoning block can be replayed to the model. */
export type IsKnown = (reasoningBlock: ReasoningBlock) => boolean;

/**
 * A block can be replayed if the provider signed it. The signature also covers the tools, and a tool that the history adds later is sent
 * among them, so blocks from before that are no longer valid.
 */
export function createIsKnown({ request }: RequestWriter, { tools }: Selection): IsKnown {
  if (request.withoutReasoning) return () => false;
  let lastOffer = -1;
  for (const [, { at, isLater }] of tools) if (isLater) lastOffer = Math.max(lastOffer, at);
  return ({ signed, at }) => signed !== undefined && at > lastOffer;
}

/** How much the model should think. `isOff`: not at all, though the history may hold thinking. */
export interface Thinking {
  readonly effort?: string | undefined;
  readonly isOff: boolean;
}

export type Message =
  | { readonly role: 'assistant'; readonly turn: AssistantTurn }
  /** The results of all calls of a turn, and what directly follows them. `open`: the next user message is appended. */
  | { readonly role: 'user'; readonly results: readonly ToolCall[]; readonly parts: Part[]; open: boolean }
  | { readonly role: 'system'; readonly parts: Part[] };

/** Arranges turns into messages: instructions first, and none that are empty. */
export function arrange(writer: RequestWriter, { isOff }: Thinking, isKnown: IsKnown): Message[] {
  const { turns } = writer.request;
  const messages: Message[] = [];
  // With thinking off, upstreams refuse thinking blocks after the last user message.
  const lastUser = turns.findLastIndex((turn) => turn.role === 'user' && turn.parts.some(isFilled));
  for (const [index, turn] of turns.entries()) {
    if (turn.role === 'assistant')
      addAssistant(writer, messages, turn, !isOff || index < lastUser ? isKnown : () => false);
    else addInput(writer, messages, turn);
  }
  return messages;
}

/** Adds a turn of the assistant, with the reasoning that can be replayed. Upstreams refuse a message that ends with reasoning. */
function addAssistant({ leaveOut }: RequestWriter, messages: Message[], turn: AssistantTurn, isKnown: IsKnown): void {
  const { content } = turn;
  const end = content.findLastIndex((one) => isCall(one) || !isBlank(one.text)) + 1;
  const isKept = (reasoningBlock: AssistantTurn['reasoning'][number]) =>
    isKnown(reasoningBlock) && reasoningBlock.after < end;
  const reasoning = turn.reasoning.filter(isKept);
  for (const at of new Set(turn.reasoning.filter((reasoningBlock) => !isKept(reasoningBlock)).map(({ at }) => at)))
    leaveOut(at);
  if (end === 0) return;
  const last = messages.at(-1);
  // Upstreams refuse two in a row. What stood between them was empty.
  if (last?.role === 'assistant') continueTurn(last.turn, { ...turn, reasoning });
  else messages.push({ role: 'assistant', turn: { ...turn, content: [...content], reasoning } });
  const calls = content.filter(isCall);
  if (calls.length > 0) messages.push({ role: 'user', results: calls, parts: [], open: false });
}

function continueTurn({ content, reasoning }: AssistantTurn, more: AssistantTurn): void {
  const before = content.length;
  for (const reasoningBlock of more.reasoning)
    reasoning.push({ ...reasoningBlock, after: before + reasoningBlock.after });
  for (const one of more.content) content.push(one);
}

/** Adds a turn of the user or the system. */
function addInput({ upstream }: RequestWriter, messages: Message[], turn: Exclude<Turn, AssistantTurn>): void {
  const last = messages.at(-1);
  const parts = turn.parts.filter(isFilled);
  if (parts.length === 0) return;
  if (turn.role === 'user') {
    // Instructions after the assistant go to the front of the next user message.
    if (last?.role === 'user' && last.open) {
      append(last.parts, parts);
      last.open = false;
    } else messages.push({ role: 'user', results: [], parts, open: false });
  } else if (last === undefined) messages.push({ role: 'system', parts });
  else if (messages.length === 1 && last.role === 'system') append(last.parts, parts);
  else if (upstream.systemTurns === 'keep') messages.push({ role: 'system', parts });
  else if (last.role === 'assistant') messages.push({ role: 'user', results: [], parts, open: true });
  else append(last.parts, parts);
}

function append(to: Part[], parts: readonly Part[]): void {
  for (const part of parts) to.push(part);
}

/** In characters. No honest client sends more white space as a text. */
const longestBlank = 1_000;
/** Upstreams refuse a blank text. */
export const isBlank = (text: Raw): boolean => text.length < longestBlank && /^"(\s|\\[nrt])*"$/.test(text);
export const isFilled = (part: Part): boolean => part.kind !== 'text' || !isBlank(part.text);
