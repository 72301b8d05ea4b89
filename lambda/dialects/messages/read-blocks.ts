import { stringMember } from '../../json/read.ts';
import type { Node } from '../../json/scan.ts';
import {
  inside,
  joinStrings,
  type Part,
  paragraph,
  quote,
  type Raw,
  type TextPart,
} from '../model/request/model-request.ts';
import { refuse, refuseType, requireKind, typeOf } from '../model/request/refuse-item.ts';
import {
  cantTake,
  leaveUnknown,
  type RequestReader,
  readContent,
  readReasoning,
  toText,
} from '../model/request/request-reader.ts';
import { takeMembers } from '../model/request/take-members.ts';
import type { TurnBuilder } from '../model/request/turn-builder.ts';
import type { ToolOffers } from './read-tools.ts';
import { messagesFields as fields } from './request-fields.ts';

/** What the messages of a request are read into. */
interface Conversation {
  readonly reader: RequestReader;
  readonly turns: TurnBuilder;
  readonly offers: ToolOffers;
}

/** Reads the messages. Returns the node of the last effort that one of them asks for. */
export function readMessageList(conversation: Conversation, list: Node): Node | undefined {
  const { reader } = conversation;
  requireKind(reader, list, 'array');
  let [role, last, effort]: [string | undefined, Node, Node | undefined] = ['', list, undefined];
  for (const message of reader.json.elements(list)) {
    requireKind(reader, message, 'object');
    role = stringMember(reader.json, message, 'role');
    last = message;
    if (role === 'system') effort = readInstruction(conversation, message) ?? effort;
    else readMessage(conversation, message);
  }
  if (role !== 'assistant') return effort;
  refuse(reader, last, "begins the answer, which this model can't continue. End with a message of the user.");
}

function readMessage({ reader, turns, offers }: Conversation, message: Node): void {
  const { content, role } = takeMembers(reader, message, fields.message);
  const name = reader.json.string(role);
  if (name === 'user') readUser(reader, turns, offers, content);
  else if (name !== 'assistant') refuse(reader, role, 'must be user, assistant or system.');
  else {
    readContent(
      reader,
      content,
      (text) => turns.say(toText(text)),
      (block) => readSaid(reader, turns, block),
    );
  }
}

/** Reads instructions within the conversation, which may change the tools from here on. Returns the node of the effort, if they set one. */
function readInstruction({ reader, turns, offers }: Conversation, message: Node): Node | undefined {
  const { content, output_config: { effort } = {} } = takeMembers(reader, message, fields['system message']);
  const parts = content === undefined ? [] : readSystem(reader, content, offers);
  if (parts.length > 0) turns.system(parts);
  return effort;
}

/** The texts of instructions, without the vendor's billing block, which changes with each request and would defeat caches. */
export function readSystem(reader: RequestReader, content: Node, offers?: ToolOffers): TextPart[] {
  return readContent<TextPart>(reader, content, toText, (block) => {
    const type = typeOf(reader, block);
    if (offers !== undefined && type === 'tool_addition') return void offers.add(block);
    if (offers !== undefined && type === 'tool_removal') return void offers.remove(block);
    if (type !== 'text') return leaveUnknown(reader, block, knownBlocks, "can't stand in instructions. Send text.");
    const { text } = takeMembers(reader, block, fields['text block']);
    return text.startsWith('"x-anthropic-billing-header:') ? undefined : toText(text);
  });
}

function readUser(reader: RequestReader, turns: TurnBuilder, offers: ToolOffers, content: Node): void {
  const { json } = reader;
  requireKind(reader, content, 'string', 'array');
  const parts: Part[] = json.kind(content) === 'string' ? [toText(json.raw(content))] : [];
  let results = 0;
  for (const block of json.elements(content)) {
    if (typeOf(reader, block) === 'tool_result') {
      readResult(reader, turns, offers, block);
      results += 1;
      continue;
    }
    const part = readPart(reader, block);
    if (part !== undefined) parts.push(part);
  }
  if (parts.length > 0 || results === 0) turns.user(parts);
}

function readResult(reader: RequestReader, turns: TurnBuilder, offers: ToolOffers, at: Node): void {
  const { tool_use_id: id, content, is_error: failed = false } = takeMembers(reader, at, fields['tool_result block']);
  const readOutput = (part: Node) => readFound(reader, offers, part) ?? readPart(reader, part);
  const parts = content === undefined ? [] : readContent(reader, content, toText, readOutput);
  turns.result(id, { at, parts, failed });
}

/** A tool that the client's search found. The model reads its name, and can call it from then on. */
function readFound(reader: RequestReader, offers: ToolOffers, block: Node): Part | undefined {
  if (typeOf(reader, block) !== 'tool_reference') return undefined;
  const { tool_name: name } = takeMembers(reader, block, fields['tool_reference block']);
  offers.find(reader.json.string(name));
  return toText(reader.json.raw(name));
}

/** The types of blocks whose content is known, wherever they may stand. */
const knownBlocks =
  /^(text|image|video|document|search_result|(redacted_)?thinking|tool_(use|reference|addition|removal)|server_tool_use|mcp_tool_\w+|(\w+_)?tool_result|container_upload|compaction|fallback)$/;

function readPart(reader: RequestReader, at: Node): Part | undefined {
  const type = typeOf(reader, at);
  if (type === 'text') return toText(takeMembers(reader, at, fields['text block']).text);
  if (type === 'document') return readDocument(reader, at);
  if (type !== 'image') return leaveUnknown(reader, at, knownBlocks, cantTake);
  return { kind: 'image', at, url: readImage(reader, takeMembers(reader, at, fields['image block']).source) };
}

function readImage(reader: RequestReader, at: Node): Raw {
  const type = typeOf(reader, at);
  if (type === 'url') return takeMembers(reader, at, fields['source with a url']).url;
  if (type === 'base64') return readBytes(reader, at);
  return refuseType(reader, at, 'is stored elsewhere. Send the image itself, in base64.');
}

function readBytes(reader: RequestReader, at: Node): Raw {
  const { media_type: type, data } = takeMembers(reader, at, fields['source with bytes']);
  return `"data:${inside(type)};base64,${inside(data)}"`;
}

function readDocument(reader: RequestReader, at: Node): Part {
  const { source, title, citations } = takeMembers(reader, at, fields['document block']);
  if (citations?.enabled !== undefined) {
    refuse(reader, citations.enabled, "asks for citations, which this model can't make. Leave it out.");
  }
  const type = typeOf(reader, source);
  if (type === 'text') {
    const { data } = takeMembers(reader, source, fields['source with a text']);
    return toText(title === undefined ? data : joinStrings([title, data], paragraph));
  }
  if (type === 'base64') {
    return { kind: 'file', at, name: title ?? quote('document.pdf'), data: readBytes(reader, source) };
  }
  return refuseType(reader, source, "is of a kind that this model can't take. Send base64 or text.");
}

function readSaid(reader: RequestReader, turns: TurnBuilder, at: Node): void {
  const type = typeOf(reader, at);
  if (type === 'text') turns.say(toText(takeMembers(reader, at, fields['text block']).text));
  else if (type === 'tool_use') {
    const { id, name, input: given = '{}' } = takeMembers(reader, at, fields['tool_use block']);
    turns.call(id, { at, tool: { kind: 'function', name }, form: 'json', given });
  } else if (type === 'thinking') {
    const { thinking, signature } = takeMembers(reader, at, fields['thinking block']);
    const { text, signed } = readReasoning(reader, at, signature, thinking);
    turns.think({ at, text: text === '""' ? undefined : text, signed });
  } else if (type === 'redacted_thinking') {
    takeMembers(reader, at, fields['redacted_thinking block']);
    turns.think({ at, text: undefined });
  } else leaveUnknown(reader, at, knownBlocks, cantTake);
}
