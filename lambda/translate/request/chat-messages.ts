import type { Cooperative } from '../../json/cooperative.ts';
import {
  type AssistantTurn,
  type Call,
  joinStrings,
  type Part,
  paragraph,
  quote,
  quoteJson,
  type Raw,
  type Result,
} from './asking.ts';
import { refuse } from './reading.ts';
import type { BodyText, Writing } from './writing.ts';

type Message =
  | { readonly role: 'system'; readonly parts: Part[] }
  /** `open`: made here, so that the next message of the user goes into it. */
  | { readonly role: 'user'; readonly parts: Part[]; open: boolean }
  | { readonly role: 'tool'; readonly id: Raw; readonly parts: Part[] }
  | { readonly role: 'assistant'; readonly turn: AssistantTurn };

/** Writes the messages, with a comma between them. */
export function* writeMessages(writing: Writing): Cooperative<void> {
  const { body } = writing;
  for (const [index, message] of (yield* arrange(writing)).entries()) {
    if (index > 0) body.add(',');
    if (message.role === 'assistant') yield* writeAssistant(writing, message.turn);
    else yield* writeMessage(writing, message);
    if (body.isPauseDue()) yield;
  }
}

/** Little work each: they are put in order. */
const turnsPerTurn = 20_000;

/** The messages in the order that chat demands: results right after their calls, no system message in the middle. */
function* arrange(writing: Writing): Cooperative<readonly Message[]> {
  const { asking, upstream } = writing;
  const messages: Message[] = [];
  const user = (parts: readonly Part[], open: boolean) => messages.push({ role: 'user', parts: [...parts], open });
  const append = (to: Part[], parts: readonly Part[]) => {
    for (const part of parts) to.push(part);
  };
  for (const [index, turn] of asking.turns.entries()) {
    if (index % turnsPerTurn === turnsPerTurn - 1) yield;
    const last = messages.at(-1);
    if (turn.role === 'assistant') {
      messages.push({ role: 'assistant', turn });
      const shown = turn.calls.flatMap((call) => addResult(writing, call, messages));
      if (shown.length > 0) user(shown, true);
    } else if (turn.role === 'user') {
      if (last?.role === 'user' && last.open) {
        append(last.parts, turn.parts);
        last.open = false;
      } else user(turn.parts, false);
    } else {
      const parts = turn.texts.map((text) => ({ kind: 'text' as const, text }));
      const leads = last === undefined || (messages.length === 1 && last.role === 'system');
      if (last !== undefined && leads && last.role === 'system') append(last.parts, parts);
      else if (leads || upstream.systemTurns === 'keep') messages.push({ role: 'system', parts });
      else if (last?.role === 'user' || last?.role === 'tool') append(last.parts, parts);
      else user(parts, true);
    }
  }
  return messages;
}

/** Adds the message of a call's result. Returns what has to follow all results, since a tool's message is a text. */
function addResult(writing: Writing, { result, id }: AssistantTurn['calls'][number], messages: Message[]): Part[] {
  const { asking, names, upstream } = writing;
  if (result === undefined) return [];
  const parts = partsOf(names, result);
  if (upstream.toolImages === 'inline') {
    messages.push({ role: 'tool', id, parts });
    return [];
  }
  const kinds = Map.groupBy(parts, ({ kind }) => kind);
  const seen = new Map<string, number>();
  const shown: Part[] = [];
  const texts = parts.map((part): Part => {
    if (part.kind === 'text') return part;
    if (upstream.toolImages === 'refuse') {
      refuse(asking, part.at, "can't stand in a tool's output with this model. Send text.");
    }
    const number = (seen.get(part.kind) ?? 0) + 1;
    seen.set(part.kind, number);
    shown.push(part);
    return {
      kind: 'text',
      text: quote(`[${part.kind} ${number} of ${kinds.get(part.kind)?.length}: see the next message]`),
    };
  });
  messages.push({ role: 'tool', id, parts: texts });
  return shown;
}

/** What a result says. Chat has no word for a call that failed. */
function partsOf(names: Writing['names'], { parts, failed, found }: Result): Part[] {
  if (found !== undefined) {
    const text = found.length === 0 ? 'No tools found.' : found.map((tool) => names.nameOf(tool)).join('\n');
    return [{ kind: 'text', text: quote(text) }];
  }
  const [first, ...rest] = parts;
  if (!failed) return [...parts];
  if (first?.kind !== 'text') return [{ kind: 'text', text: '"Error"' }, ...parts];
  const saysSo = /^"\s*error/i.test(first.text);
  return [{ kind: 'text', text: saysSo ? first.text : `"Error: ${first.text.slice(1)}` }, ...rest];
}

function* writeMessage({ body }: Writing, message: Exclude<Message, { role: 'assistant' }>): Cooperative<void> {
  body.add(`{"role":"${message.role}",`);
  if (message.role === 'tool') body.add('"tool_call_id":', message.id, ',');
  body.add('"content":');
  yield* writeContent(body, message.parts);
  body.add('}');
}

/** One text as a string, anything else as parts. */
function* writeContent(body: BodyText, parts: readonly Part[]): Cooperative<void> {
  const [first] = parts;
  if (first === undefined) body.add('""');
  else if (parts.length === 1 && first.kind === 'text') body.add(first.text);
  else {
    for (const [index, part] of parts.entries()) {
      body.add(index === 0 ? '[' : ',');
      addPart(body, part);
      if (body.isPauseDue()) yield;
    }
    body.add(']');
  }
}

function addPart({ add }: BodyText, part: Part): void {
  if (part.kind === 'text') add('{"type":"text","text":', part.text, '}');
  else if (part.kind === 'image') add('{"type":"image_url","image_url":{"url":', part.url, '}}');
  else if (part.kind === 'audio') add('{"type":"input_audio","input_audio":', part.audio, '}');
  else {
    add('{"type":"file","file":{');
    if (part.name !== undefined) add('"filename":', part.name, ',');
    add('"file_data":', part.data, '}}');
  }
}

/** Writes all that the model did in one go. */
function* writeAssistant(writing: Writing, { said, thoughts, calls }: AssistantTurn): Cooperative<void> {
  const { body, names, upstream } = writing;
  const texts = said.flatMap(({ kind, text }): Part[] => (kind === 'text' ? [{ kind, text }] : []));
  const refusals = said.flatMap(({ kind, text }) => (kind === 'refusal' ? [text] : []));
  body.add('{"role":"assistant","content":');
  if (texts.length > 0) yield* writeContent(body, texts);
  else body.add(calls.length > 0 || refusals.length > 0 ? 'null' : '""');
  if (refusals.length > 0) body.add(',"refusal":', joinStrings(refusals, paragraph));
  const replayed = replay(writing, thoughts);
  const name = upstream.replay === 'back' ? 'reasoning_content' : 'reasoning';
  if (replayed.length > 0) body.add(`,"${name}":`, joinStrings(replayed, paragraph));
  for (const [index, call] of calls.entries()) {
    body.add(index === 0 ? ',"tool_calls":[' : ',', '{"id":', call.id, ',"type":"function","function":{"name":');
    body.add(quote(names.nameOf(call.tool)), ',"arguments":', yield* argumentsOf(call), '}}');
    if (body.isPauseDue()) yield;
  }
  body.add(calls.length > 0 ? ']}' : '}');
}

function replay({ upstream, leaveOut }: Writing, thoughts: AssistantTurn['thoughts']): Raw[] {
  if (upstream.replay === 'never') return [];
  return thoughts.flatMap(({ at, text }) => {
    if (text !== undefined) return [text];
    leaveOut(at);
    return [];
  });
}

/** The arguments of a call as a string that holds JSON. */
function* argumentsOf({ form, given }: Call): Cooperative<Raw> {
  if (form === 'string') return given === '""' ? '"{}"' : given;
  return yield* quoteJson(form === 'json' ? given : `{"input":${given}}`);
}
