import { presentMember } from '../../dialects/answer.ts';
import type { Cooperative } from '../../json/cooperative.ts';
import type { Node } from '../../json/scan.ts';
import type { ClientTool } from '../tools.ts';
import type { Members } from './members.ts';
import {
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
import type { Reading, RefusedTypes } from './reading.ts';
import { responsesFields as fields } from './responses-fields.ts';
import { type ResponsesTools, readReferred, requireClientSearch, search } from './responses-tools.ts';
import type { Turns } from './turns.ts';

/** Where the items of a request go. */
export interface Items {
  readonly reading: Reading;
  readonly turns: Turns;
  readonly tools: ResponsesTools;
}

/** Reads an input: a text, or items in their order. */
export function* readInput(items: Items, input: Node): Cooperative<void> {
  const { reading, turns } = items;
  const { json } = reading;
  if (json.kind(input) === 'string') {
    turns.add('user', [toText(json.raw(input))]);
    return;
  }
  reading.requireKind(input, 'string', 'array');
  for (const item of json.elements(input)) {
    const rest = readItem(items, item);
    if (rest !== undefined) yield* rest;
    if (reading.isPauseDue(item)) yield;
  }
}

const refusedItems: RefusedTypes = [
  [
    /^(compaction|compaction_trigger|context_compaction)$/,
    'is a history that only its maker can read. Send the full history.',
  ],
  [/^item_reference$/, 'refers to an item that is stored elsewhere. Send the item itself.'],
  [
    /^(local_shell|shell|apply_patch)_call(_output)?$/,
    'belongs to a tool that this model does not have. Offer a function instead.',
  ],
  [
    /^(code_interpreter_call|file_search_call|mcp_(call|list_tools|approval_re(quest|sponse))|(computer_call|program)(_output)?)$/,
    'belongs to a tool that runs at the vendor, and this model has none. Leave it out.',
  ],
];

/** Reads an item, at once or with pauses. */
type ReadItem = (items: Items, item: Node) => Cooperative<void> | undefined;

const readers: Readonly<Record<string, ReadItem>> = {
  '': readMessage,
  message: readMessage,
  agent_message: readAgentMessage,
  reasoning: readReasoning,
  function_call: readFunctionCall,
  custom_tool_call: readCustomCall,
  tool_search_call: readSearchCall,
  function_call_output: readOutput,
  custom_tool_call_output: readOutput,
  tool_search_output: readSearchOutput,
  additional_tools: ({ reading, tools }, item) =>
    tools.read(reading.take(item, fields['additional_tools item']).required('tools')),
  web_search_call: ({ reading }, item) => {
    reading.leftOut.push(item);
    return undefined;
  },
  image_generation_call: ({ reading }, item) => {
    const result = presentMember(reading.json, item, 'result');
    if (result !== undefined) reading.refuseType(item, 'holds an image. Send it as an input_image of the user.');
    reading.leftOut.push(item);
    return undefined;
  },
};

/** The types of items that are translated or left out. */
export const knownItems = Object.keys(readers);

function readItem(items: Items, item: Node): Cooperative<void> | undefined {
  const { reading } = items;
  const type = reading.typeOf(item);
  const read = Object.hasOwn(readers, type) ? readers[type] : undefined;
  return read === undefined ? reading.refuseUnknown(item, refusedItems) : read(items, item);
}

function* readMessage({ reading, turns }: Items, item: Node): Cooperative<void> {
  const message = reading.take(item, fields['message item']);
  const content = message.required('content');
  switch (message.requiredText('role')) {
    case 'user':
      turns.add('user', yield* readParts(reading, content));
      break;
    case 'system':
    case 'developer':
      turns.add('system', yield* readInstructions(reading, content));
      break;
    case 'assistant':
      for (const text of yield* reading.readContent(content, (part) => readSaid(reading, turns, part))) turns.say(text);
      break;
    default:
      reading.refuse(message.required('role'), 'must be user, assistant, system or developer.');
  }
}

function* readInstructions(reading: Reading, content: Node): Cooperative<Part[]> {
  const parts = yield* readParts(reading, content);
  for (const part of parts) {
    if (part.kind === 'text') continue;
    reading.refuseType(part.at, "can't stand in instructions. Send it in a message of the user.");
  }
  return parts;
}

/** What one agent says to another is a message of the user for the one that reads it. */
function* readAgentMessage({ reading, turns }: Items, item: Node): Cooperative<void> {
  const { required } = reading.take(item, fields['agent_message item']);
  const parts = yield* readParts(reading, required('content'));
  if (parts.length > 0) turns.add('user', parts);
}

/** The parts of a content or an output. */
function readParts(reading: Reading, content: Node): Cooperative<Part[]> {
  return reading.readContent<Part>(content, (part) => readPart(reading, part));
}

const isText = (type: string) => type === 'input_text' || type === 'output_text' || type === 'text';

const readText = (reading: Reading, part: Node): string =>
  reading.take(part, fields['text part']).requiredString('text');

/** Reads a part; undefined for one that only its maker can read. */
function readPart(reading: Reading, part: Node): Part | undefined {
  const type = reading.typeOf(part);
  if (isText(type)) return toText(readText(reading, part));
  switch (type) {
    case 'input_image':
      return toImage(part, reading.take(part, fields['input_image part']).requiredString('image_url'));
    case 'input_file': {
      const file = reading.take(part, fields['input_file part']);
      return toFile(part, file.string('filename'), file.requiredString('file_data'));
    }
    case 'input_audio': {
      const audio = reading.json.raw(reading.take(part, fields['input_audio part']).required('input_audio'));
      return { kind: 'audio', at: part, written: `{"type":"input_audio","input_audio":${audio}}` };
    }
    case 'encrypted_content':
      reading.leftOut.push(part);
      return undefined;
    default:
      return reading.refusePart(part);
  }
}

function readSaid(reading: Reading, turns: Turns, part: Node): TextPart | undefined {
  const type = reading.typeOf(part);
  if (isText(type)) return toText(readText(reading, part));
  if (type !== 'refusal') reading.refuseType(part, "can't stand in a message of the assistant. Send text.");
  turns.decline(reading.take(part, fields['refusal part']).requiredString('refusal'));
  return undefined;
}

/** What was sealed here says what the model thought; else what was shown of it. */
function* readReasoning({ reading, turns }: Items, item: Node): Cooperative<void> {
  const { nodes, text } = reading.take(item, fields['reasoning item']);
  const seal = text('encrypted_content');
  const opened = seal === undefined ? undefined : reading.open(seal);
  const content = yield* readReasoningTexts(reading, nodes.content);
  const summary = yield* readReasoningTexts(reading, nodes.summary);
  const shown = content.length > 0 ? content : summary;
  const { encrypted_content: sealed } = nodes;
  if (opened !== undefined) turns.think({ at: item, text: quote(opened) });
  else if (shown.length > 0) turns.think({ at: item, text: joinStrings(shown, paragraph) });
  else if (sealed !== undefined) turns.think({ at: sealed, text: undefined });
}

const reasoningTexts = new Set(['summary_text', 'reasoning_text', 'text']);

function* readReasoningTexts(reading: Reading, list: Node | undefined): Cooperative<string[]> {
  if (list === undefined) return [];
  return yield* reading.readList(list, (part) => {
    if (!reasoningTexts.has(reading.typeOf(part))) reading.refuseUnknown(part);
    return readText(reading, part);
  });
}

function addCall({ turns }: Items, at: Node, call: Members<'call_id'>, tool: ClientTool, given: string): void {
  const id = call.requiredString('call_id');
  turns.call({ at, id, tool, given: given === '""' ? '"{}"' : given }, call.requiredText('call_id'));
}

function readFunctionCall(items: Items, item: Node): undefined {
  const call = items.reading.take(item, fields['function_call item']);
  addCall(items, item, call, readReferred('function', call), call.requiredString('arguments'));
}

function* readCustomCall(items: Items, item: Node): Cooperative<void> {
  const call = items.reading.take(item, fields['custom_tool_call item']);
  const given = yield* quoteJson(`{"input":${call.requiredString('input')}}`);
  addCall(items, item, call, readReferred('custom', call), given);
}

function* readSearchCall(items: Items, item: Node): Cooperative<void> {
  const { json } = items.reading;
  const call = items.reading.take(item, fields['tool_search_call item']);
  requireClientSearch(items.reading, item, call.raw('execution'));
  const given = call.required('arguments');
  const raw = json.raw(given);
  addCall(items, item, call, search, json.kind(given) === 'string' ? raw : yield* quoteJson(raw));
}

function* readOutput({ reading, turns }: Items, item: Node): Cooperative<void> {
  const { required, requiredText } = reading.take(item, fields['call_output item']);
  const id = requiredText('call_id');
  turns.result(item, yield* readParts(reading, required('output')), id);
}

function* readSearchOutput({ reading, turns, tools }: Items, item: Node): Cooperative<void> {
  const { raw, required, requiredText } = reading.take(item, fields['tool_search_output item']);
  requireClientSearch(reading, item, raw('execution'));
  const id = requiredText('call_id');
  const found: string[] = [];
  yield* tools.read(required('tools'), { found });
  turns.result(item, [toText(quote(found.length === 0 ? 'No tools found.' : found.join('\n')))], id);
}
