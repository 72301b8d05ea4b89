import type { Cooperative } from '../../json/cooperative.ts';
import type { Node } from '../../json/scan.ts';
import type { Members } from './members.ts';
import { messagesFields as fields } from './messages-fields.ts';
import {
  inside,
  joinStrings,
  type Part,
  paragraph,
  quote,
  quoteJson,
  type TextPart,
  toFile,
  toImage,
  toText,
} from './parts.ts';
import type { Reading } from './reading.ts';
import type { Turns } from './turns.ts';

/** Reads the messages in their order. */
export function* readMessageList(reading: Reading, turns: Turns, list: Node): Cooperative<void> {
  const { json } = reading;
  reading.requireKind(list, 'array');
  let last: Node | undefined;
  for (const message of json.elements(list)) {
    const role = yield* readMessage(reading, turns, message);
    last = role === 'assistant' ? message : undefined;
    if (reading.isPauseDue(message)) yield;
  }
  if (last === undefined) return;
  reading.refuse(last, "begins the answer, which this model can't continue. End with a message of the user.");
}

/** Reads a message and returns its role. */
function* readMessage(reading: Reading, turns: Turns, message: Node): Cooperative<string> {
  const { required, requiredText } = reading.take(message, fields.message);
  const content = required('content');
  const role = requiredText('role');
  if (role === 'user') yield* readUser(reading, turns, content);
  else if (role === 'assistant') yield* readAssistant(reading, turns, content);
  else if (role === 'system') turns.add('system', yield* readSystem(reading, content));
  else reading.refuse(required('role'), 'must be user, assistant or system.');
  return role;
}

/** The texts of instructions, except what is meant for a vendor's billing: it changes with each request. */
export function readSystem(reading: Reading, content: Node): Cooperative<TextPart[]> {
  return reading.readContent<TextPart>(content, (block) => {
    if (reading.typeOf(block) !== 'text') reading.refuseType(block, "can't stand in instructions. Send text.");
    const text = readText(reading, block);
    return text.startsWith('"x-anthropic-billing-header:') ? undefined : toText(text);
  });
}

function* readUser(reading: Reading, turns: Turns, content: Node): Cooperative<void> {
  const { json } = reading;
  reading.requireKind(content, 'string', 'array');
  const parts: Part[] = json.kind(content) === 'string' ? [toText(json.raw(content))] : [];
  let results = 0;
  for (const block of json.elements(content)) {
    if (reading.typeOf(block) === 'tool_result') {
      yield* readResult(reading, turns, block);
      results += 1;
    } else parts.push(readPart(reading, block));
    if (reading.isPauseDue(block)) yield;
  }
  if (parts.length > 0 || results === 0) turns.add('user', parts);
}

function* readResult(reading: Reading, turns: Turns, block: Node): Cooperative<void> {
  const { nodes, raw, requiredText } = reading.take(block, fields['tool_result block']);
  const id = requiredText('tool_use_id');
  const readOutput = (part: Node) => readFound(reading, part) ?? readPart(reading, part);
  const parts = nodes.content === undefined ? [] : yield* reading.readContent<Part>(nodes.content, readOutput);
  turns.result(block, raw('is_error') === 'true' ? withError(parts) : parts, id);
}

/** Chat has no word for a call that failed. */
function withError(parts: readonly Part[]): readonly Part[] {
  const [first, ...rest] = parts;
  if (first?.kind !== 'text') return [toText('"Error"'), ...parts];
  return /^"\s*error/i.test(first.text) ? parts : [toText(joinStrings(['"Error: "', first.text], '')), ...rest];
}

/** A tool that the client's own search has found: the model reads its name, and can call it from then on. */
function readFound(reading: Reading, block: Node): Part | undefined {
  if (reading.typeOf(block) !== 'tool_reference') return undefined;
  const { requiredString, requiredText } = reading.take(block, fields['tool_reference block']);
  reading.found.add(requiredText('tool_name'));
  return toText(requiredString('tool_name'));
}

function readText(reading: Reading, block: Node): string {
  return reading.take(block, fields['text block']).requiredString('text');
}

function readPart(reading: Reading, block: Node): Part {
  switch (reading.typeOf(block)) {
    case 'text':
      return toText(readText(reading, block));
    case 'image':
      return toImage(block, readImage(reading, reading.take(block, fields['image block']).required('source')));
    case 'document':
      return readDocument(reading, block);
    default:
      return reading.refusePart(block);
  }
}

function readImage(reading: Reading, at: Node): string {
  const type = reading.typeOf(at);
  const source = reading.take(at, fields.source);
  if (type === 'url') return source.requiredString('url');
  if (type !== 'base64') reading.refuseType(at, 'is stored elsewhere. Send the image itself, in base64.');
  return dataUrl(source);
}

const dataUrl = ({ requiredString }: Members<'media_type' | 'data'>): string =>
  `"data:${inside(requiredString('media_type'))};base64,${inside(requiredString('data'))}"`;

function readDocument(reading: Reading, block: Node): Part {
  const { nodes, required, string } = reading.take(block, fields['document block']);
  if (nodes.citations !== undefined) {
    const { raw, required: enabled } = reading.take(nodes.citations, fields['document block.citations']);
    if (raw('enabled') === 'true') {
      reading.refuse(enabled('enabled'), "asks for citations, which this model can't make. Leave it out.");
    }
  }
  const at = required('source');
  const type = reading.typeOf(at);
  const source = reading.take(at, fields.source);
  const title = string('title');
  if (type === 'text') {
    const text = source.requiredString('data');
    return toText(title === undefined ? text : joinStrings([title, text], paragraph));
  }
  if (type !== 'base64') reading.refuseType(at, "is of a kind that this model can't take. Send base64 or text.");
  return toFile(block, title ?? quote('document.pdf'), dataUrl(source));
}

function* readAssistant(reading: Reading, turns: Turns, content: Node): Cooperative<void> {
  const { json } = reading;
  reading.requireKind(content, 'string', 'array');
  if (json.kind(content) === 'string') turns.say(toText(json.raw(content)));
  for (const block of json.elements(content)) {
    const type = reading.typeOf(block);
    if (type === 'text') turns.say(toText(readText(reading, block)));
    else if (type === 'tool_use') yield* readCall(reading, turns, block);
    else if (type === 'thinking') readThinking(reading, turns, block);
    else if (type === 'redacted_thinking') {
      reading.take(block, fields['redacted_thinking block']);
      turns.think({ at: block, text: undefined });
    } else reading.refusePart(block);
    if (reading.isPauseDue(block)) yield;
  }
}

function* readCall(reading: Reading, turns: Turns, at: Node): Cooperative<void> {
  const { raw, requiredString, requiredText } = reading.take(at, fields['tool_use block']);
  const tool = { kind: 'function' as const, name: requiredText('name') };
  const given = yield* quoteJson(raw('input') ?? '{}');
  turns.call({ at, id: requiredString('id'), tool, given }, requiredText('id'));
}

/** What was sealed here says what the model thought; else what was shown of it. */
function readThinking(reading: Reading, turns: Turns, block: Node): void {
  const { string, text } = reading.take(block, fields['thinking block']);
  const opened = reading.open(text('signature') ?? '');
  const shown = string('thinking');
  const thought = opened === undefined ? shown : quote(opened);
  turns.think({ at: block, text: thought === '""' ? undefined : thought });
}
