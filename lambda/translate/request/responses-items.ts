import { presentMember } from '../../dialects/answer.ts';
import type { Cooperative } from '../../json/cooperative.ts';
import type { Node } from '../../json/scan.ts';
import { type Arguments, type AssistantTurn, joinStrings, paragraph, quote, type Raw } from './asking.ts';
import { type Members, takeMembers } from './members.ts';
import {
  isPauseDue,
  type Reading,
  type RefusedTypes,
  readContent,
  readList,
  refuse,
  refuseByType,
  refuseType,
  refuseUnknown,
  requireKind,
  typeOf,
} from './reading.ts';
import { responsesFields as fields } from './responses-fields.ts';
import { isText, readParts, readText, toText } from './responses-parts.ts';
import { requireClientSearch, type ToolOffers } from './responses-tools.ts';
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
  additional_tools: ({ reading, offers }, item) =>
    offers.read(takeMembers(reading, item, fields['additional_tools item']).required('tools')),
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
  const read = Object.hasOwn(readers, type) ? readers[type] : undefined;
  return read === undefined ? refuseByType(reading, item, refusedItems) : read(items, item);
}

function* readMessage({ reading, turns }: Items, item: Node): Cooperative<void> {
  const message = takeMembers(reading, item, fields['message item']);
  const content = message.required('content');
  switch (message.requiredText('role')) {
    case 'user':
      turns.user(yield* readParts(reading, content));
      break;
    case 'system':
    case 'developer':
      turns.system(yield* readTexts(reading, content));
      break;
    case 'assistant':
      for (const said of yield* readSaid(reading, content)) turns.say(said);
      break;
    default:
      refuse(reading, message.required('role'), 'must be user, assistant, system or developer.');
  }
}

/** What one agent says to another is a message of the user for the one that reads it. */
function* readAgentMessage({ reading, turns }: Items, item: Node): Cooperative<void> {
  const { required } = takeMembers(reading, item, fields['agent_message item']);
  const parts = yield* readParts(reading, required('content'));
  if (parts.length > 0) turns.user(parts);
}

type Said = AssistantTurn['said'][number];

function readSaid(reading: Reading, content: Node): Cooperative<Said[]> {
  return readContent<Said>(reading, content, toText, (part) => {
    const type = typeOf(reading, part);
    if (isText(type)) return toText(readText(reading, part));
    if (type !== 'refusal') refuseType(reading, part, "can't stand in a message of the assistant. Send text.");
    const { requiredString } = takeMembers(reading, part, fields['refusal part']);
    return { kind: 'refusal', text: requiredString('refusal') };
  });
}

function* readTexts(reading: Reading, content: Node): Cooperative<Raw[]> {
  const parts = yield* readParts(reading, content);
  return parts.map((part) => {
    if (part.kind === 'text') return part.text;
    return refuseType(reading, part.at, "can't stand in instructions. Send it in a message of the user.");
  });
}

/** What was sealed here says what the model thought; else what was shown of it. */
function* readReasoning({ reading, turns }: Items, item: Node): Cooperative<void> {
  const { nodes, text } = takeMembers(reading, item, fields['reasoning item']);
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
  return yield* readList(reading, list, (part) => {
    if (!reasoningTexts.has(typeOf(reading, part))) refuseUnknown(reading, part);
    return readText(reading, part);
  });
}

function addCall(
  { turns }: Items,
  item: Node,
  { requiredString, requiredText, text }: Members<'call_id' | 'name' | 'namespace'>,
  kind: 'function' | 'custom',
  given: Arguments,
): void {
  const id = requiredString('call_id');
  const tool = { kind, name: requiredText('name'), namespace: text('namespace') };
  turns.call({ at: item, id, tool, given }, requiredText('call_id'));
}

function readFunctionCall(items: Items, item: Node): undefined {
  const call = takeMembers(items.reading, item, fields['function_call item']);
  addCall(items, item, call, 'function', { form: 'string', raw: call.requiredString('arguments') });
}

function readCustomCall(items: Items, item: Node): undefined {
  const call = takeMembers(items.reading, item, fields['custom_tool_call item']);
  addCall(items, item, call, 'custom', { form: 'input', raw: call.requiredString('input') });
}

function readSearchCall({ reading, turns }: Items, item: Node): undefined {
  const { json } = reading;
  const call = takeMembers(reading, item, fields['tool_search_call item']);
  requireClientSearch(reading, item, call.raw('execution'));
  const id = call.requiredString('call_id');
  const given = call.required('arguments');
  const tool = { kind: 'tool_search' as const, name: 'tool_search' };
  const form = json.kind(given) === 'string' ? 'string' : 'json';
  turns.call({ at: item, id, tool, given: { form, raw: json.raw(given) } }, call.requiredText('call_id'));
}

function* readOutput({ reading, turns }: Items, item: Node): Cooperative<void> {
  const { required, requiredText } = takeMembers(reading, item, fields['call_output item']);
  const id = requiredText('call_id');
  const parts = yield* readParts(reading, required('output'));
  turns.result({ at: item, parts, failed: false }, id);
}

function* readSearchOutput({ reading, turns, offers }: Items, item: Node): Cooperative<void> {
  const { raw, required, requiredText } = takeMembers(reading, item, fields['tool_search_output item']);
  requireClientSearch(reading, item, raw('execution'));
  const id = requiredText('call_id');
  const found = yield* offers.readFound(required('tools'));
  turns.result({ at: item, parts: [], failed: false, found }, id);
}
