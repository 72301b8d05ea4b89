import { stringMember } from '../../dialects/answer.ts';
import type { Cooperative } from '../../json/cooperative.ts';
import type { Node } from '../../json/scan.ts';
import { inside, joinStrings, type Part, paragraph, quote, type Raw } from './asking.ts';
import { takeMembers } from './members.ts';
import { messagesFields as fields } from './messages-fields.ts';
import { isPauseDue, type Reading, readContent, readThought, toText } from './reading.ts';
import { refuse, refuseType, refuseUnknown, requireKind, typeOf } from './refusals.ts';
import type { Turns } from './turns.ts';

/** Reads the messages in their order. */
export function* readMessageList(reading: Reading, turns: Turns, list: Node): Cooperative<void> {
  const { json } = reading;
  requireKind(reading, list, 'array');
  let last: Node | undefined;
  for (const message of json.elements(list)) {
    yield* readMessage(reading, turns, message);
    if (isPauseDue(reading, message)) yield;
    last = message;
  }
  if (last === undefined || stringMember(json, last, 'role') !== 'assistant') return;
  refuse(reading, last, "begins the answer, which this model can't continue. End with a message of the user.");
}

function* readMessage(reading: Reading, turns: Turns, message: Node): Cooperative<void> {
  const { content, role } = takeMembers(reading, message, fields.message);
  const name = reading.json.string(role);
  if (name === 'user') yield* readUser(reading, turns, content);
  else if (name === 'system') turns.system(yield* readSystem(reading, content));
  else if (name !== 'assistant') refuse(reading, role, 'must be user, assistant or system.');
  else {
    yield* readContent(
      reading,
      content,
      (text) => turns.say(toText(text)),
      (block) => readSaid(reading, turns, block),
    );
  }
}

/** The texts of instructions, except what is meant for a vendor's billing: it changes with each request. */
export function readSystem(reading: Reading, content: Node): Cooperative<Raw[]> {
  return readContent<Raw>(
    reading,
    content,
    (text) => text,
    (block) => {
      if (typeOf(reading, block) !== 'text') refuseType(reading, block, "can't stand in instructions. Send text.");
      const { text } = takeMembers(reading, block, fields['text block']);
      return text.startsWith('"x-anthropic-billing-header:') ? undefined : text;
    },
  );
}

function* readUser(reading: Reading, turns: Turns, content: Node): Cooperative<void> {
  const { json } = reading;
  requireKind(reading, content, 'string', 'array');
  const parts: Part[] = json.kind(content) === 'string' ? [toText(json.raw(content))] : [];
  let results = 0;
  for (const block of json.elements(content)) {
    if (typeOf(reading, block) === 'tool_result') {
      yield* readResult(reading, turns, block);
      results += 1;
    } else parts.push(readPart(reading, block));
    if (isPauseDue(reading, block)) yield;
  }
  if (parts.length > 0 || results === 0) turns.user(parts);
}

function* readResult(reading: Reading, turns: Turns, at: Node): Cooperative<void> {
  const { tool_use_id: id, content, is_error: failed = false } = takeMembers(reading, at, fields['tool_result block']);
  const readOutput = (part: Node) => readFound(reading, part) ?? readPart(reading, part);
  const parts = content === undefined ? [] : yield* readContent(reading, content, toText, readOutput);
  turns.result(id, { at, parts, failed });
}

/** A tool that the client's own search has found: the model reads its name, and can call it from then on. */
function readFound(reading: Reading, block: Node): Part | undefined {
  if (typeOf(reading, block) !== 'tool_reference') return undefined;
  const { tool_name: name } = takeMembers(reading, block, fields['tool_reference block']);
  reading.found.add(reading.json.string(name));
  return toText(reading.json.raw(name));
}

function readPart(reading: Reading, at: Node): Part {
  const type = typeOf(reading, at);
  if (type === 'text') return toText(takeMembers(reading, at, fields['text block']).text);
  if (type === 'document') return readDocument(reading, at);
  if (type !== 'image') refuseUnknown(reading, at, 'Send text instead.');
  return { kind: 'image', at, url: readImage(reading, takeMembers(reading, at, fields['image block']).source) };
}

function readImage(reading: Reading, at: Node): Raw {
  const type = typeOf(reading, at);
  if (type === 'url') return takeMembers(reading, at, fields['source with a url']).url;
  if (type === 'base64') return readBytes(reading, at);
  return refuseType(reading, at, 'is stored elsewhere. Send the image itself, in base64.');
}

function readBytes(reading: Reading, at: Node): Raw {
  const { media_type: type, data } = takeMembers(reading, at, fields['source with bytes']);
  return `"data:${inside(type)};base64,${inside(data)}"`;
}

function readDocument(reading: Reading, at: Node): Part {
  const { source, title, citations } = takeMembers(reading, at, fields['document block']);
  if (citations?.enabled !== undefined) {
    refuse(reading, citations.enabled, "asks for citations, which this model can't make. Leave it out.");
  }
  const type = typeOf(reading, source);
  if (type === 'text') {
    const { data } = takeMembers(reading, source, fields['source with a text']);
    return toText(title === undefined ? data : joinStrings([title, data], paragraph));
  }
  if (type === 'base64') {
    return { kind: 'file', at, name: title ?? quote('document.pdf'), data: readBytes(reading, source) };
  }
  return refuseType(reading, source, "is of a kind that this model can't take. Send base64 or text.");
}

function readSaid(reading: Reading, turns: Turns, at: Node): void {
  const type = typeOf(reading, at);
  if (type === 'text') turns.say(toText(takeMembers(reading, at, fields['text block']).text));
  else if (type === 'tool_use') {
    const { id, name, input: given = '{}' } = takeMembers(reading, at, fields['tool_use block']);
    turns.call(id, { at, tool: { kind: 'function', name }, form: 'json', given });
  } else if (type === 'thinking') {
    const { thinking, signature } = takeMembers(reading, at, fields['thinking block']);
    const text = readThought(reading, signature, thinking);
    turns.think({ at, text: text === '""' ? undefined : text });
  } else if (type === 'redacted_thinking') {
    takeMembers(reading, at, fields['redacted_thinking block']);
    turns.think({ at, text: undefined });
  } else refuseUnknown(reading, at, 'Send text instead.');
}
