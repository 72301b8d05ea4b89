import type { Node } from '../../json/scan.ts';
import type { Part, Said, TextPart } from '../model/request/model-request.ts';
import { refuse, refuseType, refuseUnknown, requireKind, typeOf } from '../model/request/refuse-item.ts';
import {
  cantTake,
  leaveUnknown,
  type RequestReader,
  readContent,
  readList,
  readReasoning,
  toText,
} from '../model/request/request-reader.ts';
import { takeMembers } from '../model/request/take-members.ts';
import type { TurnBuilder } from '../model/request/turn-builder.ts';
import { name as readName } from '../model/request/values.ts';
import { isPlace } from '../model/seal.ts';
import { chatFields as fields } from './request-fields.ts';

export function readMessageList(reader: RequestReader, turns: TurnBuilder, list: Node): void {
  requireKind(reader, list, 'array');
  for (const message of reader.json.elements(list)) {
    readMessage(reader, turns, message);
  }
}

type Message = ReturnType<typeof takeMessage>;

const takeMessage = (reader: RequestReader, at: Node) => takeMembers(reader, at, fields.message);

function readMessage(reader: RequestReader, turns: TurnBuilder, at: Node): void {
  const message = takeMessage(reader, at);
  const role = reader.json.string(message.role);
  // It names one of several speakers, for which other dialects have no place.
  if (message.name !== undefined && role !== 'tool' && role !== 'function') reader.leftOut.push(message.name);
  if (role === 'user') turns.user(readParts(reader, message));
  else if (role === 'system' || role === 'developer') turns.system(readInstructions(reader, message));
  else if (role === 'assistant') readAssistant(reader, turns, message);
  else if (role === 'tool' || role === 'function') {
    // `function_call`, the predecessor of `tool_calls`, has no ids: its result names the function.
    const id = message.tool_call_id ?? message.name ?? refuse(reader, at, 'has no tool_call_id. Add it.');
    const parts = readParts(reader, message);
    turns.result(id, { at, parts, failed: false, isMarked: parts.some(({ isMarked }) => isMarked) });
  } else refuse(reader, message.role, 'must be user, assistant, system, developer or tool.');
}

function readAssistant(reader: RequestReader, turns: TurnBuilder, message: Message): void {
  const said = [...readSaid(reader, message)];
  if (message.refusal !== undefined) said.push({ kind: 'refusal', text: message.refusal });
  readReasoningBlocks(reader, turns, message, said.length);
  for (const one of said) turns.say(one);
  if (message.tool_calls !== undefined) {
    readList(reader, message.tool_calls, (at) => {
      const type = typeOf(reader, at);
      if (type !== 'function' && type !== '') refuseUnknown(reader, at);
      const { id, function: called, cache_control: isMarked } = takeMembers(reader, at, fields.tool_call);
      const tool = { kind: 'function', name: called.name } as const;
      return turns.call(id, { at, tool, form: 'string', given: called.arguments, isMarked });
    });
  }
  const { function_call: at } = message;
  if (at === undefined) return;
  const { name, arguments: given } = takeMembers(reader, at, fields['function_call of a message']);
  turns.call(name, { at, tool: { kind: 'function', name: readName(reader, name) }, form: 'string', given });
}

/**
 * Reads reasoning. `reasoning_details` hold what the upstream can verify, beside a text for people. `said`: the number of texts in the
 * message.
 */
function readReasoningBlocks(reader: RequestReader, turns: TurnBuilder, message: Message, said: number): void {
  const { json } = reader;
  const { reasoning_details: details } = message;
  // Some clients send the text that they showed under this name.
  const isShown = details !== undefined && json.kind(details) === 'string';
  let readable = 0;
  if (details !== undefined && !isShown) {
    readList(reader, details, (at) => {
      const { text, signature, data } = takeMembers(reader, at, fields.reasoning_detail);
      const { signed } = readReasoning(reader, at, signature ?? data, text);
      if (signed === undefined) reader.leftOut.push(at);
      else readable += 1;
      let ahead = 0;
      for (const part of signed ?? []) {
        if (isPlace(part)) ahead = said + Number(part);
        else turns.think({ at, text, signed: [part] }, ahead);
      }
    });
  }
  const shown = message.reasoning_content ?? message.reasoning ?? (isShown ? details : undefined);
  if (readable > 0 || shown === undefined) return;
  const text = json.kind(shown) === 'string' ? json.raw(shown) : undefined;
  if (text !== '""') turns.think({ at: shown, text });
}

/** The content of a message. A cache mark on the message itself goes to its last part. */
function readContents<T extends Said | Part>(
  reader: RequestReader,
  { content, cache_control: isMarked = false }: Message,
  fromPart: (part: Node) => T | undefined,
): readonly (T | TextPart)[] {
  if (content === undefined) return [];
  const parts = readContent<T | TextPart>(reader, content, toText, fromPart);
  const last = parts.at(-1);
  return isMarked && last !== undefined ? parts.with(-1, { ...last, isMarked }) : parts;
}

function readSaid(reader: RequestReader, message: Message): readonly Said[] {
  return readContents<Said>(reader, message, (part) => {
    const type = typeOf(reader, part);
    if (type === 'text') return readText(reader, part);
    if (type !== 'refusal') {
      return leaveUnknown(reader, part, knownParts, "can't stand in a message of the assistant. Send text.");
    }
    return { kind: 'refusal', text: takeMembers(reader, part, fields['refusal part']).refusal };
  });
}

function readInstructions(reader: RequestReader, message: Message): readonly TextPart[] {
  const parts = readParts(reader, message);
  return parts.map((part) => {
    if (part.kind === 'text') return part;
    return refuseType(reader, part.at, "can't stand in instructions. Send it in a message of the user.");
  });
}

const readParts = (reader: RequestReader, message: Message): readonly Part[] =>
  readContents<Part>(reader, message, (part) => readPart(reader, part));

function readText(reader: RequestReader, at: Node): TextPart {
  const { text, cache_control: isMarked } = takeMembers(reader, at, fields['text part']);
  return { ...toText(text), isMarked };
}

/** The types of parts that are translated, and those of images and videos in other servers' dialects. */
const knownParts = /^(text|refusal|image(_url)?|video(_url)?|file|input_(text|image|video|audio|file))$/;

function readPart(reader: RequestReader, at: Node): Part | undefined {
  const type = typeOf(reader, at);
  if (type === 'text') return readText(reader, at);
  if (type === 'image_url') {
    const { image_url, cache_control: isMarked } = takeMembers(reader, at, fields['image_url part']);
    return { kind: 'image', at, url: image_url.url, isMarked };
  }
  if (type === 'input_audio') {
    return { kind: 'audio', at, audio: takeMembers(reader, at, fields['input_audio part']).input_audio };
  }
  if (type !== 'file') return leaveUnknown(reader, at, knownParts, cantTake);
  const { file, cache_control: isMarked } = takeMembers(reader, at, fields['file part']);
  return { kind: 'file', at, name: file.filename, data: file.file_data, isMarked };
}
