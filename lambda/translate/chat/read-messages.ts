import type { Cooperative } from '../../json/cooperative.ts';
import type { Node } from '../../json/scan.ts';
import { takeMembers } from '../request/members.ts';
import type { AssistantTurn, Part, Raw } from '../request/model-request.ts';
import { refuse, refuseType, refuseUnknown, requireKind, typeOf } from '../request/refusals.ts';
import {
  isPauseDue,
  type RequestReader,
  readContent,
  readList,
  readThought,
  toText,
} from '../request/request-reader.ts';
import type { TurnBuilder } from '../request/turn-builder.ts';
import { name as readName } from '../request/values.ts';
import { chatFields as fields } from './request-fields.ts';

/** Reads the messages in their order. */
export function* readMessageList(reader: RequestReader, turns: TurnBuilder, list: Node): Cooperative<void> {
  requireKind(reader, list, 'array');
  for (const message of reader.json.elements(list)) {
    yield* readMessage(reader, turns, message);
    if (isPauseDue(reader, message)) yield;
  }
}

type Message = ReturnType<typeof takeMessage>;

const takeMessage = (reader: RequestReader, at: Node) => takeMembers(reader, at, fields.message);

function* readMessage(reader: RequestReader, turns: TurnBuilder, at: Node): Cooperative<void> {
  const message = takeMessage(reader, at);
  const role = reader.json.string(message.role);
  // Of several people who speak. Only functions are known by their names.
  if (message.name !== undefined && role !== 'tool' && role !== 'function') reader.leftOut.push(message.name);
  if (role === 'user') turns.user(yield* readParts(reader, message.content));
  else if (role === 'system' || role === 'developer') turns.system(yield* readInstructions(reader, message.content));
  else if (role === 'assistant') yield* readAssistant(reader, turns, message);
  else if (role === 'tool' || role === 'function') {
    // Functions, which came before tools, are answered by their name.
    const id = message.tool_call_id ?? message.name ?? refuse(reader, at, 'has no tool_call_id. Add it.');
    turns.result(id, { at, parts: yield* readParts(reader, message.content), failed: false });
  } else refuse(reader, message.role, 'must be user, assistant, system, developer or tool.');
}

function* readAssistant(reader: RequestReader, turns: TurnBuilder, message: Message): Cooperative<void> {
  const said = [...(yield* readSaid(reader, message.content))];
  if (message.refusal !== undefined) said.push({ kind: 'refusal', text: message.refusal });
  yield* readThoughts(reader, turns, message, said.length);
  for (const one of said) turns.say(one);
  if (message.tool_calls !== undefined) {
    yield* readList(reader, message.tool_calls, (at) => {
      const type = typeOf(reader, at);
      if (type !== 'function' && type !== '') refuseUnknown(reader, at);
      const { id, function: called } = takeMembers(reader, at, fields.tool_call);
      const tool = { kind: 'function', name: called.name } as const;
      return turns.call(id, { at, tool, form: 'string', given: called.arguments });
    });
  }
  const { function_call: at } = message;
  if (at === undefined) return;
  const { name, arguments: given } = takeMembers(reader, at, fields['function_call of a message']);
  turns.call(name, { at, tool: { kind: 'function', name: readName(reader, name) }, form: 'string', given });
}

/** What the model thought: the details hold what it can know again, beside a text for people. `said`: how many texts it said. */
function* readThoughts(reader: RequestReader, turns: TurnBuilder, message: Message, said: number): Cooperative<void> {
  const { json } = reader;
  const { reasoning_details: details } = message;
  // Some clients send what they showed of it under this name.
  const isShown = details !== undefined && json.kind(details) === 'string';
  let known = 0;
  if (details !== undefined && !isShown) {
    yield* readList(reader, details, (at) => {
      const { text, signature, data } = takeMembers(reader, at, fields.reasoning_detail);
      const { signed } = readThought(reader, signature ?? data, text);
      if (signed === undefined) reader.leftOut.push(at);
      else known += 1;
      let ahead = 0;
      for (const part of signed ?? []) {
        if (/^\d/.test(part)) ahead = said + Number(part);
        else turns.think({ at, text, signed: [part] }, ahead);
      }
    });
  }
  const shown = message.reasoning_content ?? message.reasoning ?? (isShown ? details : undefined);
  if (known > 0 || shown === undefined) return;
  const text = json.kind(shown) === 'string' ? json.raw(shown) : undefined;
  if (text !== '""') turns.think({ at: shown, text });
}

type Said = AssistantTurn['said'][number];

function* readSaid(reader: RequestReader, content: Node | undefined): Cooperative<readonly Said[]> {
  if (content === undefined) return [];
  return yield* readContent<Said>(reader, content, toText, (part) => {
    const type = typeOf(reader, part);
    if (type === 'text') return toText(takeMembers(reader, part, fields['text part']).text);
    if (type !== 'refusal') refuseType(reader, part, "can't stand in a message of the assistant. Send text.");
    return { kind: 'refusal', text: takeMembers(reader, part, fields['refusal part']).refusal };
  });
}

function* readInstructions(reader: RequestReader, content: Node | undefined): Cooperative<Raw[]> {
  const parts = yield* readParts(reader, content);
  return parts.map((part) => {
    if (part.kind === 'text') return part.text;
    return refuseType(reader, part.at, "can't stand in instructions. Send it in a message of the user.");
  });
}

function* readParts(reader: RequestReader, content: Node | undefined): Cooperative<Part[]> {
  if (content === undefined) return [];
  return yield* readContent<Part>(reader, content, toText, (part) => readPart(reader, part));
}

function readPart(reader: RequestReader, at: Node): Part {
  const type = typeOf(reader, at);
  if (type === 'text') return toText(takeMembers(reader, at, fields['text part']).text);
  if (type === 'image_url') {
    return { kind: 'image', at, url: takeMembers(reader, at, fields['image_url part']).image_url.url };
  }
  if (type === 'input_audio') {
    return { kind: 'audio', at, audio: takeMembers(reader, at, fields['input_audio part']).input_audio };
  }
  if (type !== 'file') refuseUnknown(reader, at, 'Send text instead.');
  const { file_data: data, filename: name } = takeMembers(reader, at, fields['file part']).file;
  return { kind: 'file', at, name, data };
}
