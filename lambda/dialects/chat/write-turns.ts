import {
  type AssistantTurn,
  isCall,
  joinStrings,
  type Part,
  paragraph,
  quote,
  type Raw,
  type Said,
  type ToolCall,
  type Turn,
} from '../model/request/model-request.ts';
import { refuse } from '../model/request/refuse-item.ts';
import { toText } from '../model/request/request-reader.ts';
import type { BodyText, RequestWriter } from '../model/request/request-writer.ts';
import { listFound } from '../model/request/select-tools.ts';

type Message =
  | { readonly role: 'assistant'; readonly turn: AssistantTurn }
  | {
      readonly role: 'system' | 'user' | 'tool';
      /** The id of the call whose result it is. */
      readonly id?: Raw;
      readonly parts: Part[];
      /** Whether it was created here, so that the next user message is appended to it. */
      open?: boolean;
    };

/**
 * Writes the messages in the order that chat requires: results right after their calls, no system message in the middle. The last one is
 * held back, as more may be appended to it.
 */
export function writeTurns(writer: RequestWriter): void {
  let written = 0;
  let last: Message | undefined;
  for (const turn of writer.request.turns) {
    for (const message of messagesOf(writer, turn, last, written === 0)) {
      if (last !== undefined) writeMessage(writer, last, written++);
      last = message;
    }
  }
  if (last !== undefined) writeMessage(writer, last, written);
}

/** The messages of a turn; none if it was appended to `last`. `isFirst`: whether `last` is the first message. */
function messagesOf(
  writer: RequestWriter,
  turn: Turn,
  last: Message | undefined,
  isFirst: boolean,
): readonly Message[] {
  if (turn.role === 'assistant') {
    const shown: Part[] = [];
    const results = turn.content.filter(isCall).map((call) => messageOf(writer, call, shown));
    const after: Message[] = shown.length > 0 ? [{ role: 'user', parts: shown, open: true }] : [];
    return [{ role: 'assistant', turn }, ...results, ...after];
  }
  if (turn.role === 'user') {
    if (last?.role !== 'user' || !last.open) return [{ role: 'user', parts: [...turn.parts] }];
    last.open = false;
    return append(last.parts, turn.parts);
  }
  const parts = [...turn.parts];
  if (last === undefined) return [{ role: 'system', parts }];
  if (isFirst && last.role === 'system') return append(last.parts, parts);
  if (writer.upstream.systemTurns === 'keep') return [{ role: 'system', parts }];
  return last.role === 'user' || last.role === 'tool'
    ? append(last.parts, parts)
    : [{ role: 'user', parts, open: true }];
}

function append(to: Part[], parts: readonly Part[]): readonly Message[] {
  for (const part of parts) to.push(part);
  return [];
}

/** The message of a call's result. It can only hold text, so other parts go into `shown`, a message after all results. */
function messageOf(writer: RequestWriter, call: ToolCall, shown: Part[]): Message {
  const { request, upstream } = writer;
  const parts = partsOf(writer, call);
  const kinds = Map.groupBy(parts, ({ kind }) => kind);
  const seen = new Map<string, number>();
  const show = (part: Part): Part => {
    if (part.kind === 'text' || upstream.toolImages === 'inline') return part;
    if (upstream.toolImages === 'refuse') {
      refuse(request, part.at, "can't stand in a tool's output with this model. Send text.");
    }
    const number = (seen.get(part.kind) ?? 0) + 1;
    seen.set(part.kind, number);
    shown.push(part);
    return toText(quote(`[${part.kind} ${number} of ${kinds.get(part.kind)?.length}: see the next message]`));
  };
  return { role: 'tool', id: call.id, parts: parts.map(show) };
}

/** The result of a call. Chat can't mark a call as failed, so the text says it. */
function partsOf(writer: RequestWriter, { result }: ToolCall): Part[] {
  const { parts = [], failed, found } = result ?? {};
  if (found !== undefined) return [toText(listFound(writer, found))];
  const [first, ...rest] = parts;
  if (!failed) return [...parts];
  if (first?.kind !== 'text') return [toText('"Error"'), ...parts];
  const saysSo = /^"\s*error/i.test(first.text);
  return [saysSo ? first : toText(`"Error: ${first.text.slice(1)}`), ...rest];
}

/** `others`: the number of messages before. */
function writeMessage(writer: RequestWriter, message: Message, others: number): void {
  const { body } = writer;
  body.add(others > 0 ? ',{"role":"' : '{"role":"', message.role, '",');
  if (message.role === 'assistant') writeTurn(writer, message.turn);
  else {
    if (message.id !== undefined) body.add('"tool_call_id":', message.id, ',');
    writeContent(body, message.parts);
  }
  body.add('}');
}

/** Writes a single text as a string, anything else as parts. */
function writeContent(body: BodyText, parts: readonly Part[]): void {
  const [first] = parts;
  body.add('"content":');
  if (first === undefined) body.add('""');
  else if (parts.length === 1 && first.kind === 'text') body.add(first.text);
  else {
    for (const [index, part] of parts.entries()) {
      body.add(index === 0 ? '[' : ',');
      addPart(body, part);
    }
    body.add(']');
  }
}

function addPart({ add }: BodyText, part: Part): void {
  if (part.kind === 'text') add('{"type":"text","text":', part.text, '}');
  else if (part.kind === 'image') {
    add('{"type":"image_url","image_url":{"url":', part.url);
    if (part.detail !== undefined) add(',"detail":', part.detail);
    add('}}');
  } else if (part.kind === 'audio') add('{"type":"input_audio","input_audio":', part.audio, '}');
  else {
    add('{"type":"file","file":{');
    if (part.name !== undefined) add('"filename":', part.name, ',');
    add('"file_data":', part.data, '}}');
  }
}

/** Writes a turn of the assistant. Chat does not keep the order of reasoning, texts and calls. */
function writeTurn(writer: RequestWriter, { content, reasoning }: AssistantTurn): void {
  const { body, names, upstream } = writer;
  const calls = content.filter(isCall);
  const said = content.filter((one): one is Said => !isCall(one));
  const texts = said.flatMap(({ kind, text }) => (kind === 'text' ? [toText(text)] : []));
  const refusals = said.flatMap(({ kind, text }) => (kind === 'refusal' ? [text] : []));
  if (texts.length > 0 || calls.length + refusals.length === 0) writeContent(body, texts);
  else body.add('"content":null');
  if (refusals.length > 0) body.add(',"refusal":', joinStrings(refusals, paragraph));
  const replayed = replay(writer, reasoning);
  const name = upstream.replay === 'back' ? 'reasoning_content' : 'reasoning';
  if (replayed.length > 0) body.add(`,"${name}":`, joinStrings(replayed, paragraph));
  for (const [index, call] of calls.entries()) {
    body.add(index === 0 ? ',"tool_calls":[' : ',', '{"id":', call.id, ',"type":"function","function":{"name":');
    body.add(quote(names.nameOf(call.tool)), ',"arguments":', argumentsOf(call), '}}');
  }
  if (calls.length > 0) body.add(']');
}

function replay(
  { request, upstream, leaveOut, noteReasoning }: RequestWriter,
  reasoning: AssistantTurn['reasoning'],
): Raw[] {
  if (upstream.replay === 'never') return [];
  return reasoning.flatMap(({ at, text }) => {
    if (text === undefined || request.withoutReasoning) {
      leaveOut(at);
      return [];
    }
    noteReasoning();
    return [text];
  });
}

/** The arguments of a call as a string that holds JSON. */
function argumentsOf({ form, given }: ToolCall): Raw {
  if (form === 'string') return given === '""' ? '"{}"' : given;
  return quote(form === 'json' ? given : `{"input":${given}}`);
}
