import type { Cooperative } from '../../json/cooperative.ts';
import type { AssistantTurn, Call } from './asking.ts';
import { joinStrings, type Part, paragraph, quote, toText } from './parts.ts';
import type { BodyText, Writing } from './writing.ts';

type Message =
  | AssistantTurn
  | { readonly role: 'system'; readonly parts: Part[] }
  | { readonly role: 'tool'; readonly id: string; readonly parts: Part[] }
  /** `open`: made here, so that the next message of the user goes into it. */
  | { readonly role: 'user'; readonly parts: Part[]; open: boolean };

/** Writes the messages, with a comma between them. */
export function* writeMessages(writing: Writing): Cooperative<void> {
  const { body } = writing;
  for (const [index, message] of (yield* arrange(writing)).entries()) {
    if (index > 0) body.add(',');
    if (message.role === 'assistant') yield* writeAssistant(writing, message);
    else {
      body.add(`{"role":"${message.role}",`);
      if (message.role === 'tool') body.add('"tool_call_id":', message.id, ',');
      body.add('"content":');
      yield* writeContent(body, message.parts);
      body.add('}');
    }
    if (body.isPauseDue()) yield;
  }
}

/** Little work each: they are put in order. */
const turnsPerTurn = 20_000;

/** The messages in the order that chat demands: results right after their calls, no system message in the middle. */
function* arrange(writing: Writing): Cooperative<readonly Message[]> {
  const { asking, upstream } = writing;
  const messages: Message[] = [];
  const add = (role: 'system' | 'user', parts: readonly Part[], open = false) =>
    messages.push({ role, parts: [...parts], open });
  const append = (to: Part[], parts: readonly Part[]) => {
    for (const part of parts) to.push(part);
  };
  for (const [index, turn] of asking.turns.entries()) {
    if (index % turnsPerTurn === turnsPerTurn - 1) yield;
    const last = messages.at(-1);
    if (turn.role === 'assistant') {
      messages.push(turn);
      const shown = turn.calls.flatMap((call) => addResult(writing, call, messages));
      if (shown.length > 0) add('user', shown, true);
    } else if (turn.role === 'user') {
      if (last?.role === 'user' && last.open) {
        append(last.parts, turn.parts);
        last.open = false;
      } else add('user', turn.parts);
    } else {
      const leads = last === undefined || (messages.length === 1 && last.role === 'system');
      if (leads && last?.role === 'system') append(last.parts, turn.parts);
      else if (leads || upstream.systemTurns === 'keep') add('system', turn.parts);
      else if (last.role === 'user' || last.role === 'tool') append(last.parts, turn.parts);
      else add('user', turn.parts, true);
    }
  }
  return messages;
}

/** Adds the message of a call's result. Returns what has to follow all results, since a tool's message is a text. */
function addResult({ reading, upstream }: Writing, { id, result = [] }: Call, messages: Message[]): Part[] {
  if (upstream.toolImages === 'inline') {
    messages.push({ role: 'tool', id, parts: [...result] });
    return [];
  }
  const kinds = Map.groupBy(result, ({ kind }) => kind);
  const seen = new Map<string, number>();
  const shown: Part[] = [];
  const parts = result.map((part): Part => {
    if (part.kind === 'text') return part;
    if (upstream.toolImages === 'refuse') {
      reading.refuse(part.at, "can't stand in a tool's output with this model. Send text.");
    }
    const number = (seen.get(part.kind) ?? 0) + 1;
    seen.set(part.kind, number);
    shown.push(part);
    return toText(quote(`[${part.kind} ${number} of ${kinds.get(part.kind)?.length}: see the next message]`));
  });
  messages.push({ role: 'tool', id, parts });
  return shown;
}

/** One text as a string, anything else as parts. */
function* writeContent(body: BodyText, parts: readonly Part[]): Cooperative<void> {
  const [first] = parts;
  if (first === undefined) body.add('""');
  else if (parts.length === 1 && first.kind === 'text') body.add(first.text);
  else {
    for (const [index, part] of parts.entries()) {
      body.add(index === 0 ? '[' : ',');
      if (part.kind === 'text') body.add('{"type":"text","text":', part.text, '}');
      else body.add(part.written);
      if (body.isPauseDue()) yield;
    }
    body.add(']');
  }
}

/** Writes all that the model did in one go. */
function* writeAssistant(writing: Writing, turn: AssistantTurn): Cooperative<void> {
  const { reading, body, upstream } = writing;
  const { texts, refusals, calls } = turn;
  body.add('{"role":"assistant","content":');
  if (texts.length > 0) yield* writeContent(body, texts);
  else body.add(calls.length > 0 || refusals.length > 0 ? 'null' : '""');
  if (refusals.length > 0) body.add(',"refusal":', joinStrings(refusals, paragraph));
  const replayed = replay(writing, turn);
  const name = upstream.replay === 'back' ? 'reasoning_content' : 'reasoning';
  if (replayed.length > 0) body.add(`,"${name}":`, joinStrings(replayed, paragraph));
  for (const [index, { id, tool, given }] of calls.entries()) {
    body.add(index === 0 ? ',"tool_calls":[' : ',', '{"id":', id, ',"type":"function","function":{"name":');
    body.add(quote(reading.names.nameOf(tool)), ',"arguments":', given, '}}');
    if (body.isPauseDue()) yield;
  }
  body.add(calls.length > 0 ? ']}' : '}');
}

function replay({ reading, upstream }: Writing, { thoughts }: AssistantTurn): string[] {
  if (upstream.replay === 'never') return [];
  return thoughts.flatMap(({ at, text }) => {
    if (text === undefined) reading.leftOut.push(at);
    return text ?? [];
  });
}
