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

/** Whether the model can be shown a thought of its own again. */
export type IsKnown = (reasoningBlock: ReasoningBlock) => boolean;

/**
 * It can if its maker signed it, over tools among others. So one from before a tool that was offered later is not known any more: from
 * then on that stands among the tools.
 */
export function createIsKnown({ request }: RequestWriter, { tools }: Selection): IsKnown {
  if (request.withoutReasoning) return () => false;
  let lastOffer = -1;
  for (const [, { at, isLater }] of tools) if (isLater) lastOffer = Math.max(lastOffer, at);
  return ({ signed, at }) => signed !== undefined && at > lastOffer;
}

/** How much the model is to think. `isOff`: not at all, though it may have thought before. */
export interface Thinking {
  readonly effort?: string | undefined;
  readonly isOff: boolean;
}

export type Message =
  | { readonly role: 'assistant'; readonly turn: AssistantTurn }
  /** The results of all calls of a turn, and what follows them at once. */
  | { readonly role: 'user'; readonly results: readonly ToolCall[]; readonly parts: Part[]; open: boolean }
  | { readonly role: 'system'; readonly parts: Part[] };

/** The messages without those that would be empty; instructions first, if there are any. */
export function arrange(writer: RequestWriter, { isOff }: Thinking, isKnown: IsKnown): Message[] {
  const { turns } = writer.request;
  const messages: Message[] = [];
  // It goes on from all that it did since. Thoughts in there are refused of a model that doesn't think.
  const asked = turns.findLastIndex((turn) => turn.role === 'user' && turn.parts.some(isFilled));
  for (const [index, turn] of turns.entries()) {
    if (turn.role === 'assistant') addDone(writer, messages, turn, !isOff || index < asked ? isKnown : () => false);
    else addTold(writer, messages, turn);
  }
  return messages;
}

/** Adds what the model did, with the thoughts that it knows. A message that ends with one would be refused. */
function addDone({ leaveOut }: RequestWriter, messages: Message[], turn: AssistantTurn, isKnown: IsKnown): void {
  const { done } = turn;
  const end = done.findLastIndex((one) => isCall(one) || !isBlank(one.text)) + 1;
  const isKept = (reasoningBlock: AssistantTurn['reasoning'][number]) =>
    isKnown(reasoningBlock) && reasoningBlock.after < end;
  const reasoning = turn.reasoning.filter(isKept);
  for (const at of new Set(turn.reasoning.filter((reasoningBlock) => !isKept(reasoningBlock)).map(({ at }) => at)))
    leaveOut(at);
  if (end === 0) return;
  const last = messages.at(-1);
  // Two in a row would be refused. What stood between them was empty.
  if (last?.role === 'assistant') continueTurn(last.turn, { ...turn, reasoning });
  else messages.push({ role: 'assistant', turn: { ...turn, done: [...done], reasoning } });
  const calls = done.filter(isCall);
  if (calls.length > 0) messages.push({ role: 'user', results: calls, parts: [], open: false });
}

function continueTurn({ done, reasoning }: AssistantTurn, more: AssistantTurn): void {
  const before = done.length;
  for (const reasoningBlock of more.reasoning)
    reasoning.push({ ...reasoningBlock, after: before + reasoningBlock.after });
  for (const one of more.done) done.push(one);
}

/** Adds what the model was told. */
function addTold({ upstream }: RequestWriter, messages: Message[], turn: Exclude<Turn, AssistantTurn>): void {
  const last = messages.at(-1);
  const parts = turn.parts.filter(isFilled);
  if (parts.length === 0) return;
  if (turn.role === 'user') {
    // What instructions said after the assistant goes to the front of what the user says next.
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

/** In characters. Nobody honest sends more white space for a text. */
const longestBlank = 1_000;
/** An empty text is refused. */
export const isBlank = (text: Raw): boolean => text.length < longestBlank && /^"(\s|\\[nrt])*"$/.test(text);
export const isFilled = (part: Part): boolean => part.kind !== 'text' || !isBlank(part.text);
