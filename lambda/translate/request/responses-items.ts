import { presentMember } from '../../dialects/answer.ts';
import type { Cooperative } from '../../json/cooperative.ts';
import type { Node } from '../../json/scan.ts';
import { type AssistantTurn, joinStrings, type Part, paragraph, type Raw } from './asking.ts';
import { takeMembers } from './members.ts';
import { isPauseDue, type Reading, readContent, readList, readThought, toText } from './reading.ts';
import { type RefusedTypes, refuse, refuseByType, refuseType, refuseUnknown, requireKind, typeOf } from './refusals.ts';
import { responsesFields as fields } from './responses-fields.ts';
import { requireClientSearch, searchTool, type ToolOffers } from './responses-tools.ts';
import type { Turns } from './turns.ts';

/** Where the items of a request go. */
export interface Items {
  readonly reading: Reading;
  readonly turns: Turns;
  readonly offers: ToolOffers;
}

/** Reads an input: a text, or items in their order. */
export function* readInput(items: Items, input: Node): Cooperative<void> {
  const { reading, turns } = items;
  const { json } = reading;
  if (json.kind(input) === 'string') {
    turns.user([toText(json.raw(input))]);
    return;
  }
  requireKind(reading, input, 'string', 'array');
  for (const item of json.elements(input)) {
    const rest = readItem(items, item);
    if (rest !== undefined) yield* rest;
    if (isPauseDue(reading, item)) yield;
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
type ReadItem = (items: Items, item: Node) => Cooperative<unknown> | undefined;

const readers: Readonly<Record<string, ReadItem>> = {
  '': readMessage,
  message: readMessage,
  *agent_message({ reading, turns }, item) {
    const { content } = takeMembers(reading, item, fields['agent_message item']);
    const parts = yield* readParts(reading, content);
    // What one agent says to another is a message of the user for the one that reads it.
    if (parts.length > 0) turns.user(parts);
  },
  *reasoning({ reading, turns }, item) {
    const { content, summary, encrypted_content: seal } = takeMembers(reading, item, fields['reasoning item']);
    const [whole, short] = [yield* readReasoningTexts(reading, content), yield* readReasoningTexts(reading, summary)];
    const shown = whole.length > 0 ? whole : short;
    const text = shown.length > 0 ? joinStrings(shown, paragraph) : undefined;
    const thought = readThought(reading, seal === undefined ? seal : reading.json.string(seal), text);
    if (thought !== undefined || seal !== undefined) turns.think({ at: seal ?? item, text: thought });
  },
  function_call({ reading, turns }, at) {
    const { call_id: id, name, namespace, arguments: given } = takeMembers(reading, at, fields['function_call item']);
    turns.call(id, { at, tool: { kind: 'function', name, namespace }, form: 'string', given });
    return undefined;
  },
  custom_tool_call({ reading, turns }, at) {
    const { call_id: id, name, namespace, input } = takeMembers(reading, at, fields['custom_tool_call item']);
    turns.call(id, { at, tool: { kind: 'custom', name, namespace }, form: 'input', given: input });
    return undefined;
  },
  tool_search_call({ reading, turns }, at) {
    const { call_id: id, execution, arguments: given } = takeMembers(reading, at, fields['tool_search_call item']);
    requireClientSearch(reading, at, execution);
    turns.call(id, { at, tool: searchTool, form: given.startsWith('"') ? 'string' : 'json', given });
    return undefined;
  },
  function_call_output: readOutput,
  custom_tool_call_output: readOutput,
  *tool_search_output({ reading, turns, offers }, at) {
    const { call_id: id, execution, tools } = takeMembers(reading, at, fields['tool_search_output item']);
    requireClientSearch(reading, at, execution);
    turns.result(id, { at, parts: [], failed: false, found: yield* offers.read(tools, true) });
  },
  additional_tools: ({ reading, offers }, item) =>
    offers.read(takeMembers(reading, item, fields['additional_tools item']).tools),
  web_search_call: ({ reading }, item) => {
    reading.leftOut.push(item);
    return undefined;
  },
  image_generation_call: ({ reading }, item) => {
    const result = presentMember(reading.json, item, 'result');
    if (result !== undefined) refuseType(reading, item, 'holds an image. Send it as an input_image of the user.');
    reading.leftOut.push(item);
    return undefined;
  },
};

/** The types of items that are translated or left out. */
export const knownItems = Object.keys(readers);

function readItem(items: Items, item: Node): Cooperative<unknown> | undefined {
  const { reading } = items;
  const type = typeOf(reading, item);
  const read = Object.hasOwn(readers, type) ? readers[type] : undefined;
  return read === undefined ? refuseByType(reading, item, refusedItems) : read(items, item);
}

function* readMessage({ reading, turns }: Items, item: Node): Cooperative<void> {
  const { content, role } = takeMembers(reading, item, fields['message item']);
  const name = reading.json.string(role);
  if (name === 'user') turns.user(yield* readParts(reading, content));
  else if (name === 'system' || name === 'developer') turns.system(yield* readTexts(reading, content));
  else if (name !== 'assistant') refuse(reading, role, 'must be user, assistant, system or developer.');
  else for (const said of yield* readSaid(reading, content)) turns.say(said);
}

type Said = AssistantTurn['said'][number];

function readSaid(reading: Reading, content: Node): Cooperative<Said[]> {
  return readContent<Said>(reading, content, toText, (part) => {
    const type = typeOf(reading, part);
    if (isText(type)) return toText(readText(reading, part));
    if (type !== 'refusal') refuseType(reading, part, "can't stand in a message of the assistant. Send text.");
    return { kind: 'refusal', text: takeMembers(reading, part, fields['refusal part']).refusal };
  });
}

function* readTexts(reading: Reading, content: Node): Cooperative<Raw[]> {
  const parts = yield* readParts(reading, content);
  return parts.map((part) => {
    if (part.kind === 'text') return part.text;
    return refuseType(reading, part.at, "can't stand in instructions. Send it in a message of the user.");
  });
}

const reasoningTexts = new Set(['summary_text', 'reasoning_text', 'text']);

function* readReasoningTexts(reading: Reading, list: Node | undefined): Cooperative<Raw[]> {
  if (list === undefined) return [];
  return yield* readList(reading, list, (part) => {
    if (!reasoningTexts.has(typeOf(reading, part))) refuseUnknown(reading, part);
    return readText(reading, part);
  });
}

function* readOutput({ reading, turns }: Items, at: Node): Cooperative<void> {
  const { call_id: id, output } = takeMembers(reading, at, fields['call_output item']);
  turns.result(id, { at, parts: yield* readParts(reading, output), failed: false });
}

/** The parts of a content or an output. */
function readParts(reading: Reading, content: Node): Cooperative<Part[]> {
  return readContent<Part>(reading, content, toText, (part) => readPart(reading, part));
}

const isText = (type: string) => type === 'input_text' || type === 'output_text' || type === 'text';

const readText = (reading: Reading, part: Node): Raw => takeMembers(reading, part, fields['text part']).text;

/** Chat knows fewer levels. */
function readDetail({ json, leftOut }: Reading, at: Node): Raw | undefined {
  if (['auto', 'low', 'high'].includes(json.string(at))) return json.raw(at);
  leftOut.push(at);
  return undefined;
}

/** Reads a part; undefined for one that only its maker can read. */
function readPart(reading: Reading, at: Node): Part | undefined {
  const type = typeOf(reading, at);
  if (isText(type)) return toText(readText(reading, at));
  if (type === 'input_image') {
    const { image_url: url, detail } = takeMembers(reading, at, fields['input_image part']);
    return { kind: 'image', at, url, detail: detail === undefined ? detail : readDetail(reading, detail) };
  }
  if (type === 'input_file') {
    const { filename: name, file_data: data } = takeMembers(reading, at, fields['input_file part']);
    return { kind: 'file', at, name, data };
  }
  if (type === 'input_audio') {
    return { kind: 'audio', at, audio: takeMembers(reading, at, fields['input_audio part']).input_audio };
  }
  if (type !== 'encrypted_content') refuseUnknown(reading, at, 'Send text instead.');
  reading.leftOut.push(at);
  return undefined;
}
