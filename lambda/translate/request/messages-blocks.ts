import type { Cooperative } from '../../json/cooperative.ts';
import type { Node } from '../../json/scan.ts';
import { inside, joinStrings, type Part, quote, type Raw } from './asking.ts';
import { messagesFields as fields } from './messages-fields.ts';
import {
  isPauseDue,
  type Reading,
  rawOf,
  refuse,
  refuseType,
  refuseUnknown,
  required,
  requireKind,
  type Turns,
  takeMembers,
  takeString,
  textOf,
  typeOf,
} from './reading.ts';

/** Reads the messages in their order. */
export function* readMessageList(reading: Reading, turns: Turns, list: Node): Cooperative<void> {
  const { json } = reading;
  requireKind(reading, list, 'array');
  let last: Node | undefined;
  for (const message of json.elements(list)) {
    const role = yield* readMessage(reading, turns, message);
    last = role === 'assistant' ? message : undefined;
    if (isPauseDue(reading, message)) yield;
  }
  if (last === undefined) return;
  refuse(reading, last, "begins the answer, which this model can't continue. End with a message of the user.");
}

/** Reads a message and returns its role. */
function* readMessage(reading: Reading, turns: Turns, message: Node): Cooperative<string> {
  const taken = takeMembers(reading, message, fields.message);
  const content = required(reading, message, 'content', taken.content);
  const at = required(reading, message, 'role', taken.role);
  const role = textOf(reading, at);
  if (role === 'user') yield* readUser(reading, turns, content);
  else if (role === 'assistant') yield* readAssistant(reading, turns, content);
  else if (role === 'system') turns.system(yield* readSystem(reading, content));
  else refuse(reading, at, 'must be user, assistant or system.');
  return role;
}

/** The texts of instructions, except what is meant for a vendor's billing: it changes with each request. */
export function* readSystem(reading: Reading, content: Node): Cooperative<Raw[]> {
  const texts: Raw[] = [];
  for (const block of blocksOf(reading, content)) {
    if (typeof block === 'string') return [block];
    if (typeOf(reading, block) !== 'text') refuseType(reading, block, "can't stand in instructions. Send text.");
    const text = readText(reading, block);
    if (!text.startsWith('"x-anthropic-billing-header:')) texts.push(text);
    if (isPauseDue(reading, block)) yield;
  }
  return texts;
}

function* readUser(reading: Reading, turns: Turns, content: Node): Cooperative<void> {
  const parts: Part[] = [];
  let results = 0;
  for (const block of blocksOf(reading, content)) {
    if (typeof block !== 'string' && typeOf(reading, block) === 'tool_result') {
      yield* readResult(reading, turns, block);
      results += 1;
    } else parts.push(readPart(reading, block));
    if (typeof block !== 'string' && isPauseDue(reading, block)) yield;
  }
  if (parts.length > 0 || results === 0) turns.user(parts);
}

function* readResult(reading: Reading, turns: Turns, block: Node): Cooperative<void> {
  const taken = takeMembers(reading, block, fields['tool_result block']);
  const id = textOf(reading, required(reading, block, 'tool_use_id', taken.tool_use_id));
  const parts: Part[] = [];
  for (const part of taken.content === undefined ? [] : blocksOf(reading, taken.content)) {
    parts.push(readFound(reading, part) ?? readPart(reading, part));
    if (typeof part !== 'string' && isPauseDue(reading, part)) yield;
  }
  const failed = rawOf(reading, taken.is_error) === 'true';
  turns.result({ at: block, parts, failed }, id);
}

/** A tool that the client's own search has found: the model reads its name, and can call it from then on. */
function readFound(reading: Reading, block: string | Node): Part | undefined {
  if (typeof block === 'string' || typeOf(reading, block) !== 'tool_reference') return undefined;
  const { tool_name: name } = takeMembers(reading, block, fields['tool_reference block']);
  const at = required(reading, block, 'tool_name', name);
  reading.found.add(textOf(reading, at));
  return { kind: 'text', text: takeString(reading, at) };
}

function* blocksOf(reading: Reading, content: Node): Generator<string | Node> {
  const { json } = reading;
  requireKind(reading, content, 'string', 'array');
  if (json.kind(content) === 'string') yield json.raw(content);
  else yield* json.elements(content);
}

function readText(reading: Reading, block: Node): string {
  const { text } = takeMembers(reading, block, fields['text block']);
  return takeString(reading, required(reading, block, 'text', text));
}

function readPart(reading: Reading, block: string | Node): Part {
  if (typeof block === 'string') return { kind: 'text', text: block };
  switch (typeOf(reading, block)) {
    case 'text':
      return { kind: 'text', text: readText(reading, block) };
    case 'image': {
      const { source } = takeMembers(reading, block, fields['image block']);
      return { kind: 'image', at: block, url: readImage(reading, required(reading, block, 'source', source)) };
    }
    case 'document':
      return readDocument(reading, block);
    default:
      return refuseUnknown(reading, block, 'Send text instead.');
  }
}

function readImage(reading: Reading, source: Node): Raw {
  const type = typeOf(reading, source);
  const { media_type: media, data, url } = takeMembers(reading, source, fields.source);
  if (type === 'url') return takeString(reading, required(reading, source, 'url', url));
  if (type !== 'base64') refuseType(reading, source, 'is stored elsewhere. Send the image itself, in base64.');
  return dataUrl(
    takeString(reading, required(reading, source, 'media_type', media)),
    takeString(reading, required(reading, source, 'data', data)),
  );
}

const dataUrl = (media: string, data: string): Raw => ['"data:', inside(media), ';base64,', inside(data), '"'];

function readDocument(reading: Reading, block: Node): Part {
  const taken = takeMembers(reading, block, fields['document block']);
  if (taken.citations !== undefined) {
    const { enabled } = takeMembers(reading, taken.citations, fields['document block.citations']);
    if (enabled !== undefined && reading.json.raw(enabled) === 'true') {
      refuse(reading, enabled, "asks for citations, which this model can't make. Leave it out.");
    }
  }
  const source = required(reading, block, 'source', taken.source);
  const type = typeOf(reading, source);
  const { media_type: media, data } = takeMembers(reading, source, fields.source);
  const title = taken.title === undefined ? undefined : takeString(reading, taken.title);
  if (type === 'text') {
    const text = takeString(reading, required(reading, source, 'data', data));
    return { kind: 'text', text: title === undefined ? text : joinStrings([title, text], '\\n\\n') };
  }
  if (type !== 'base64') refuseType(reading, source, "is of a kind that this model can't take. Send base64 or text.");
  const type64 = takeString(reading, required(reading, source, 'media_type', media));
  const url = dataUrl(type64, takeString(reading, required(reading, source, 'data', data)));
  return { kind: 'file', at: block, name: title ?? quote('document.pdf'), data: url };
}

function* readAssistant(reading: Reading, turns: Turns, content: Node): Cooperative<void> {
  for (const block of blocksOf(reading, content)) {
    if (typeof block === 'string') turns.say({ kind: 'text', text: block });
    else {
      readSaid(reading, turns, block);
      if (isPauseDue(reading, block)) yield;
    }
  }
}

function readSaid(reading: Reading, turns: Turns, block: Node): void {
  const type = typeOf(reading, block);
  if (type === 'text') turns.say({ kind: 'text', text: readText(reading, block) });
  else if (type === 'tool_use') readCall(reading, turns, block);
  else if (type === 'thinking') readThinking(reading, turns, block);
  else if (type === 'redacted_thinking') {
    takeMembers(reading, block, fields['redacted_thinking block']);
    turns.think({ at: block, text: undefined });
  } else refuseUnknown(reading, block, 'Send text instead.');
}

function readCall(reading: Reading, turns: Turns, block: Node): void {
  const { json } = reading;
  const { id, name, input } = takeMembers(reading, block, fields['tool_use block']);
  const at = required(reading, block, 'id', id);
  const tool = { kind: 'function' as const, name: textOf(reading, required(reading, block, 'name', name)) };
  const given = { form: 'json' as const, raw: input === undefined ? '{}' : json.raw(input) };
  turns.call({ at: block, id: takeString(reading, at), tool, given }, json.string(at));
}

/** What was sealed here says what the model thought; else what was shown of it. */
function readThinking(reading: Reading, turns: Turns, block: Node): void {
  const { thinking, signature } = takeMembers(reading, block, fields['thinking block']);
  const opened = reading.open(textOf(reading, signature) ?? '');
  const shown = thinking === undefined ? '""' : takeString(reading, thinking);
  const text = opened === undefined ? shown : quote(opened);
  turns.think({ at: block, text: text === '""' ? undefined : text });
}
