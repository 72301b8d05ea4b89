import { presentMember } from '../../dialects/answer.ts';
import type { Cooperative } from '../../json/cooperative.ts';
import type { Node } from '../../json/scan.ts';
import { type Arguments, joinStrings, quote, type Raw } from './asking.ts';
import {
  isPauseDue,
  type Reading,
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
import { responsesFields as fields } from './responses-fields.ts';
import { isText, partsOf, readParts, readText } from './responses-parts.ts';
import type { ToolOffers } from './responses-tools.ts';

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
    turns.user([{ kind: 'text', text: json.raw(input) }]);
    return;
  }
  requireKind(reading, input, 'string', 'array');
  for (const item of json.elements(input)) {
    const rest = readItem(items, item);
    if (rest !== undefined) yield* rest;
    if (isPauseDue(reading, item)) yield;
  }
}

const compacted = 'is a history that only its maker can read. Send the full history.';
const clientRun = 'belongs to a tool that this model does not have. Offer a function instead.';
const vendorRun = 'belongs to a tool that runs at the vendor, and this model has none. Leave it out.';

/** Items that are refused, with the end of the sentence. */
const refusedItems: Readonly<Record<string, string>> = {
  compaction: compacted,
  compaction_trigger: compacted,
  context_compaction: compacted,
  item_reference: 'refers to an item that is stored elsewhere. Send the item itself.',
  local_shell_call: clientRun,
  local_shell_call_output: clientRun,
  shell_call: clientRun,
  shell_call_output: clientRun,
  apply_patch_call: clientRun,
  apply_patch_call_output: clientRun,
  code_interpreter_call: vendorRun,
  file_search_call: vendorRun,
  mcp_call: vendorRun,
  mcp_list_tools: vendorRun,
  mcp_approval_request: vendorRun,
  mcp_approval_response: vendorRun,
  computer_call: vendorRun,
  computer_call_output: vendorRun,
  program: vendorRun,
  program_output: vendorRun,
};

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
  function_call_output: (items, item) => readOutput(items, item, 'function_call_output item'),
  custom_tool_call_output: (items, item) => readOutput(items, item, 'custom_tool_call_output item'),
  tool_search_output: readSearchOutput,
  additional_tools: ({ reading, offers }, item) => {
    const { tools } = takeMembers(reading, item, fields['additional_tools item']);
    return offers.read(required(reading, item, 'tools', tools));
  },
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

function readItem(items: Items, item: Node): Cooperative<void> | undefined {
  const { reading } = items;
  const type = typeOf(reading, item);
  const sentence = Object.hasOwn(refusedItems, type) ? refusedItems[type] : undefined;
  if (sentence !== undefined) refuseType(reading, item, sentence);
  const read = Object.hasOwn(readers, type) ? readers[type] : undefined;
  if (read === undefined) refuseUnknown(reading, item);
  return read(items, item);
}

function* readMessage({ reading, turns }: Items, item: Node): Cooperative<void> {
  const taken = takeMembers(reading, item, fields['message item']);
  const content = required(reading, item, 'content', taken.content);
  const role = required(reading, item, 'role', taken.role);
  switch (textOf(reading, role)) {
    case 'user':
      turns.user(yield* readParts(reading, content));
      break;
    case 'system':
    case 'developer':
      turns.system(yield* readTexts(reading, content));
      break;
    case 'assistant':
      yield* readSaid(reading, content, turns);
      break;
    default:
      refuse(reading, role, 'must be user, assistant, system or developer.');
  }
}

/** What one agent says to another is a message of the user for the one that reads it. */
function* readAgentMessage({ reading, turns }: Items, item: Node): Cooperative<void> {
  const { content } = takeMembers(reading, item, fields['agent_message item']);
  const parts = yield* readParts(reading, required(reading, item, 'content', content));
  if (parts.length > 0) turns.user(parts);
}

function* readSaid(reading: Reading, content: Node, turns: Turns): Cooperative<void> {
  for (const part of partsOf(reading, content)) {
    if (typeof part === 'string') turns.say({ kind: 'text', text: part });
    else if (isText(typeOf(reading, part))) turns.say({ kind: 'text', text: readText(reading, part) });
    else if (typeOf(reading, part) === 'refusal') {
      const { refusal } = takeMembers(reading, part, fields['refusal part']);
      turns.say({ kind: 'refusal', text: takeString(reading, required(reading, part, 'refusal', refusal)) });
    } else refuseType(reading, part, "can't stand in a message of the assistant. Send text.");
    if (typeof part !== 'string' && isPauseDue(reading, part)) yield;
  }
}

function* readTexts(reading: Reading, content: Node): Cooperative<Raw[]> {
  const parts = yield* readParts(reading, content);
  return parts.map((part) => {
    if (part.kind === 'text') return part.text;
    return refuseType(reading, part.at, "can't stand in instructions. Send it in a message of the user.");
  });
}

const paragraph = '\\n\\n';

/** What was sealed here says what the model thought; else what was shown of it. */
function* readReasoning({ reading, turns }: Items, item: Node): Cooperative<void> {
  const taken = takeMembers(reading, item, fields['reasoning item']);
  const sealed = taken.encrypted_content;
  const opened = sealed === undefined ? undefined : reading.open(textOf(reading, sealed));
  const content = yield* readReasoningTexts(reading, taken.content);
  const summary = yield* readReasoningTexts(reading, taken.summary);
  const shown = content.length > 0 ? content : summary;
  if (opened !== undefined) turns.think({ at: item, text: quote(opened) });
  else if (shown.length > 0) turns.think({ at: item, text: joinStrings(shown, paragraph) });
  else if (sealed !== undefined) turns.think({ at: sealed, text: undefined });
}

const reasoningTexts = new Set(['summary_text', 'reasoning_text', 'text']);

function* readReasoningTexts(reading: Reading, list: Node | undefined): Cooperative<string[]> {
  if (list === undefined) return [];
  requireKind(reading, list, 'array');
  const texts: string[] = [];
  for (const part of reading.json.elements(list)) {
    if (!reasoningTexts.has(typeOf(reading, part))) refuseUnknown(reading, part);
    texts.push(readText(reading, part));
    if (isPauseDue(reading, part)) yield;
  }
  return texts;
}

interface CallMembers {
  readonly call_id?: Node;
  readonly name?: Node;
  readonly namespace?: Node;
}

function addCall(
  { reading, turns }: Items,
  item: Node,
  { call_id, name, namespace }: CallMembers,
  kind: 'function' | 'custom',
  given: Arguments,
): void {
  const { json } = reading;
  const id = required(reading, item, 'call_id', call_id);
  const called = textOf(reading, required(reading, item, 'name', name));
  const tool = { kind, name: called, namespace: textOf(reading, namespace) };
  turns.call({ at: item, id: takeString(reading, id), tool, given }, json.string(id));
}

function readFunctionCall(items: Items, item: Node): undefined {
  const { reading } = items;
  const taken = takeMembers(reading, item, fields['function_call item']);
  const raw = takeString(reading, required(reading, item, 'arguments', taken.arguments));
  addCall(items, item, taken, 'function', { form: 'string', raw });
}

function readCustomCall(items: Items, item: Node): undefined {
  const { reading } = items;
  const taken = takeMembers(reading, item, fields['custom_tool_call item']);
  const raw = takeString(reading, required(reading, item, 'input', taken.input));
  addCall(items, item, taken, 'custom', { form: 'input', raw });
}

function readSearchCall({ reading, turns, offers }: Items, item: Node): undefined {
  const { json } = reading;
  const taken = takeMembers(reading, item, fields['tool_search_call item']);
  offers.requireClient(item, taken.execution);
  const id = required(reading, item, 'call_id', taken.call_id);
  const given = required(reading, item, 'arguments', taken.arguments);
  const tool = { kind: 'tool_search' as const, name: 'tool_search' };
  const form = json.kind(given) === 'string' ? 'string' : 'json';
  turns.call({ at: item, id: takeString(reading, id), tool, given: { form, raw: json.raw(given) } }, json.string(id));
}

type OutputKind = 'function_call_output item' | 'custom_tool_call_output item';

function* readOutput({ reading, turns }: Items, item: Node, kind: OutputKind): Cooperative<void> {
  const taken = takeMembers(reading, item, fields[kind]);
  const id = required(reading, item, 'call_id', taken.call_id);
  const parts = yield* readParts(reading, required(reading, item, 'output', taken.output));
  turns.result({ at: item, parts, failed: false }, textOf(reading, id));
}

function* readSearchOutput({ reading, turns, offers }: Items, item: Node): Cooperative<void> {
  const taken = takeMembers(reading, item, fields['tool_search_output item']);
  offers.requireClient(item, taken.execution);
  const id = required(reading, item, 'call_id', taken.call_id);
  const found = yield* offers.readFound(required(reading, item, 'tools', taken.tools));
  turns.result({ at: item, parts: [], failed: false, found }, textOf(reading, id));
}
