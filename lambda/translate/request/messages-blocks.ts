import type { Cooperative } from '../../json/cooperative.ts';
import type { Node } from '../../json/scan.ts';
import { inside, joinStrings, type Part, paragraph, quote, type Raw } from './asking.ts';
import { type Members, takeMembers } from './members.ts';
import { messagesFields as fields } from './messages-fields.ts';
import {
  isPauseDue,
  type Reading,
  readContent,
  refuse,
  refuseType,
  refuseUnknown,
  requireKind,
  typeOf,
} from './reading.ts';
import type { Turns } from './turns.ts';

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
  const { required, requiredText } = takeMembers(reading, message, fields.message);
  const content = required('content');
  const role = requiredText('role');
  if (role === 'user') yield* readUser(reading, turns, content);
  else if (role === 'assistant') {
    yield* readContent(
      reading,
      content,
      (text) => turns.say({ kind: 'text', text }),
      (block) => readSaid(reading, turns, block),
    );
  } else if (role === 'system') turns.system(yield* readSystem(reading, content));
  else refuse(reading, required('role'), 'must be user, assistant or system.');
  return role;
}

/** The texts of instructions, except what is meant for a vendor's billing: it changes with each request. */
export function readSystem(reading: Reading, content: Node): Cooperative<Raw[]> {
  return readContent<Raw>(
    reading,
    content,
    (text) => text,
    (block) => {
      if (typeOf(reading, block) !== 'text') refuseType(reading, block, "can't stand in instructions. Send text.");
      const text = readText(reading, block);
      return text.startsWith('"x-anthropic-billing-header:') ? undefined : text;
    },
  );
}

const toText = (text: string): Part => ({ kind: 'text', text });

function* readUser(reading: Reading, turns: Turns, content: Node): Cooperative<void> {
  const { json } = reading;
  requireKind(reading, content, 'string', 'array');
  const parts = json.kind(content) === 'string' ? [toText(json.raw(content))] : [];
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

function* readResult(reading: Reading, turns: Turns, block: Node): Cooperative<void> {
  const { nodes, raw, requiredText } = takeMembers(reading, block, fields['tool_result block']);
  const id = requiredText('tool_use_id');
  const readOutput = (part: Node) => readFound(reading, part) ?? readPart(reading, part);
  const parts = nodes.content === undefined ? [] : yield* readContent(reading, nodes.content, toText, readOutput);
  turns.result({ at: block, parts, failed: raw('is_error') === 'true' }, id);
}

/** A tool that the client's own search has found: the model reads its name, and can call it from then on. */
function readFound(reading: Reading, block: Node): Part | undefined {
  if (typeOf(reading, block) !== 'tool_reference') return undefined;
  const { requiredString, requiredText } = takeMembers(reading, block, fields['tool_reference block']);
  reading.found.add(requiredText('tool_name'));
  return toText(requiredString('tool_name'));
}

function readText(reading: Reading, block: Node): string {
  return takeMembers(reading, block, fields['text block']).requiredString('text');
}

function readPart(reading: Reading, block: Node): Part {
  switch (typeOf(reading, block)) {
    case 'text':
      return toText(readText(reading, block));
    case 'image': {
      const { required } = takeMembers(reading, block, fields['image block']);
      return { kind: 'image', at: block, url: readImage(reading, required('source')) };
    }
    case 'document':
      return readDocument(reading, block);
    default:
      return refuseUnknown(reading, block, 'Send text instead.');
  }
}

function readImage(reading: Reading, at: Node): Raw {
  const type = typeOf(reading, at);
  const source = takeMembers(reading, at, fields.source);
  if (type === 'url') return source.requiredString('url');
  if (type !== 'base64') refuseType(reading, at, 'is stored elsewhere. Send the image itself, in base64.');
  return dataUrl(source);
}

function dataUrl({ requiredString }: Members<'media_type' | 'data'>): Raw {
  return ['"data:', inside(requiredString('media_type')), ';base64,', inside(requiredString('data')), '"'];
}

function readDocument(reading: Reading, block: Node): Part {
  const { nodes, required, string } = takeMembers(reading, block, fields['document block']);
  if (nodes.citations !== undefined) {
    const { raw, required: enabled } = takeMembers(reading, nodes.citations, fields['document block.citations']);
    if (raw('enabled') === 'true') {
      refuse(reading, enabled('enabled'), "asks for citations, which this model can't make. Leave it out.");
    }
  }
  const at = required('source');
  const type = typeOf(reading, at);
  const source = takeMembers(reading, at, fields.source);
  const title = string('title');
  if (type === 'text') {
    const text = source.requiredString('data');
    return { kind: 'text', text: title === undefined ? text : joinStrings([title, text], paragraph) };
  }
  if (type !== 'base64') refuseType(reading, at, "is of a kind that this model can't take. Send base64 or text.");
  return { kind: 'file', at: block, name: title ?? quote('document.pdf'), data: dataUrl(source) };
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
  const { raw, requiredString, requiredText } = takeMembers(reading, block, fields['tool_use block']);
  const id = requiredString('id');
  const tool = { kind: 'function' as const, name: requiredText('name') };
  turns.call({ at: block, id, tool, given: { form: 'json', raw: raw('input') ?? '{}' } }, requiredText('id'));
}

/** What was sealed here says what the model thought; else what was shown of it. */
function readThinking(reading: Reading, turns: Turns, block: Node): void {
  const { string, text } = takeMembers(reading, block, fields['thinking block']);
  const opened = reading.open(text('signature') ?? '');
  const shown = string('thinking');
  const thought = opened === undefined ? shown : quote(opened);
  turns.think({ at: block, text: thought === '""' ? undefined : thought });
}
