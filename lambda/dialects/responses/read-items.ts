import { presentMember } from '../../json/read.ts';
import type { Node } from '../../json/scan.ts';
import {
  joinStrings,
  type Part,
  paragraph,
  type Raw,
  type Said,
  type TextPart,
} from '../model/request/model-request.ts';
import { type RefusedTypes, refuse, refuseType, requireKind, typeOf } from '../model/request/refuse-item.ts';
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
import { requireClientSearch, searchTool, type ToolOffers } from './read-tools.ts';
import { responsesFields as fields } from './request-fields.ts';

/** What the items of a request are read into. */
interface Items {
  readonly reader: RequestReader;
  readonly turns: TurnBuilder;
  readonly offers: ToolOffers;
}

/** Reads an input: a text, or a list of items. */
export function readInput(items: Items, input: Node): void {
  const { reader, turns } = items;
  const { json } = reader;
  if (json.kind(input) === 'string') {
    turns.user([toText(json.raw(input))]);
    return;
  }
  requireKind(reader, input, 'string', 'array');
  for (const item of json.elements(input)) {
    readItem(items, item);
  }
}

const refusedItems: RefusedTypes = [
  [
    /^(compaction|compaction_trigger|context_compaction)$/,
    'is a history that only its maker can read. Send the full history.',
  ],
  [
    /^configuration_update$/,
    'changes how the model is to answer, which nothing here can. Send a request that says so.',
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

type ReadItem = (items: Items, item: Node) => void;

const readers: Readonly<Record<string, ReadItem>> = {
  '': readMessage,
  message: readMessage,
  agent_message({ reader, turns }, item) {
    const { content } = takeMembers(reader, item, fields['agent_message item']);
    const parts = readParts(reader, content);
    // To the agent that reads it, another agent's message is a user message.
    if (parts.length > 0) turns.user(parts);
  },
  reasoning({ reader, turns }, item) {
    const { content, summary, encrypted_content: seal } = takeMembers(reader, item, fields['reasoning item']);
    const [whole, short] = [readReasoningTexts(reader, content), readReasoningTexts(reader, summary)];
    const shown = whole.length > 0 ? whole : short;
    const text = shown.length > 0 ? joinStrings(shown, paragraph) : undefined;
    const reasoningBlock = readReasoning(reader, item, seal === undefined ? seal : reader.json.string(seal), text);
    // If there is no text to lose, only the seal is left out.
    const at = text === undefined ? (seal ?? item) : item;
    if (reasoningBlock.text !== undefined || seal !== undefined) turns.think({ at, ...reasoningBlock });
  },
  function_call({ reader, turns }, at) {
    const { call_id: id, name, namespace, arguments: given } = takeMembers(reader, at, fields['function_call item']);
    turns.call(id, { at, tool: { kind: 'function', name, namespace }, form: 'string', given });
    return undefined;
  },
  custom_tool_call({ reader, turns }, at) {
    const { call_id: id, name, namespace, input } = takeMembers(reader, at, fields['custom_tool_call item']);
    turns.call(id, { at, tool: { kind: 'custom', name, namespace }, form: 'input', given: input });
    return undefined;
  },
  tool_search_call({ reader, turns }, at) {
    const { call_id: id, execution, arguments: given } = takeMembers(reader, at, fields['tool_search_call item']);
    requireClientSearch(reader, at, execution);
    turns.call(id, { at, tool: searchTool, form: given.startsWith('"') ? 'string' : 'json', given });
    return undefined;
  },
  function_call_output: readOutput,
  custom_tool_call_output: readOutput,
  tool_search_output({ reader, turns, offers }, at) {
    const { call_id: id, execution, tools } = takeMembers(reader, at, fields['tool_search_output item']);
    requireClientSearch(reader, at, execution);
    turns.result(id, { at, parts: [], failed: false, found: offers.read(tools, { found: true, isLater: true }) });
  },
  additional_tools: ({ reader, offers }, item) =>
    offers.read(takeMembers(reader, item, fields['additional_tools item']).tools, { isLater: true }),
  web_search_call: ({ reader }, item) => {
    reader.leftOut.push(item);
    return undefined;
  },
  image_generation_call: ({ reader }, item) => {
    const result = presentMember(reader.json, item, 'result');
    if (result !== undefined) refuseType(reader, item, 'holds an image. Send it as an input_image of the user.');
    reader.leftOut.push(item);
    return undefined;
  },
};

/** The types of items that are translated or left out. */
export const knownItems = Object.keys(readers);

function readItem(items: Items, item: Node): unknown | undefined {
  const { reader } = items;
  const type = typeOf(reader, item);
  const read = Object.hasOwn(readers, type) ? readers[type] : undefined;
  if (read !== undefined) return read(items, item);
  const [known, what] = refusedItems.find(([types]) => types.test(type)) ?? [knownParts, cantTake];
  return leaveUnknown(reader, item, known, what);
}

function readMessage({ reader, turns }: Items, item: Node): void {
  const { content, role } = takeMembers(reader, item, fields['message item']);
  const name = reader.json.string(role);
  if (name === 'user') turns.user(readParts(reader, content));
  else if (name === 'system' || name === 'developer') turns.system(readTexts(reader, content));
  else if (name !== 'assistant') refuse(reader, role, 'must be user, assistant, system or developer.');
  else for (const said of readSaid(reader, content)) turns.say(said);
}

function readSaid(reader: RequestReader, content: Node): Said[] {
  return readContent<Said>(reader, content, toText, (part) => {
    const type = typeOf(reader, part);
    if (isText(type)) return toText(readText(reader, part));
    if (type !== 'refusal') {
      return leaveUnknown(reader, part, knownParts, "can't stand in a message of the assistant. Send text.");
    }
    return { kind: 'refusal', text: takeMembers(reader, part, fields['refusal part']).refusal };
  });
}

function readTexts(reader: RequestReader, content: Node): TextPart[] {
  return readContent<TextPart>(reader, content, toText, (at) => {
    const part = readPart(reader, at);
    if (part === undefined || part.kind === 'text') return part;
    return refuseType(reader, at, "can't stand in instructions. Send it in a message of the user.");
  });
}

const reasoningTexts = new Set(['summary_text', 'reasoning_text', 'text']);

function readReasoningTexts(reader: RequestReader, list: Node | undefined): Raw[] {
  if (list === undefined) return [];
  return readList(reader, list, (part) => {
    if (reasoningTexts.has(typeOf(reader, part))) return readText(reader, part);
    return leaveUnknown(reader, part, knownParts, cantTake);
  });
}

function readOutput({ reader, turns }: Items, at: Node): void {
  const { call_id: id, output } = takeMembers(reader, at, fields['call_output item']);
  turns.result(id, { at, parts: readParts(reader, output), failed: false });
}

/** Reads the parts of a content or an output. */
function readParts(reader: RequestReader, content: Node): Part[] {
  return readContent<Part>(reader, content, toText, (part) => readPart(reader, part));
}

/** The types of parts whose content is known, wherever they may stand. */
const knownParts =
  /^(text|refusal|computer_screenshot|encrypted_content|(input|output|summary|reasoning)_(text|image|video|audio|file))$/;

const isText = (type: string) => type === 'input_text' || type === 'output_text' || type === 'text';

const readText = (reader: RequestReader, part: Node): Raw => takeMembers(reader, part, fields['text part']).text;

/** Chat has fewer levels. */
function readDetail({ json, leftOut }: RequestReader, at: Node): Raw | undefined {
  if (['auto', 'low', 'high'].includes(json.string(at))) return json.raw(at);
  leftOut.push(at);
  return undefined;
}

/** Reads a part; undefined if it is left out, such as encrypted content. */
function readPart(reader: RequestReader, at: Node): Part | undefined {
  const type = typeOf(reader, at);
  if (isText(type)) return toText(readText(reader, at));
  if (type === 'input_image') {
    const { image_url: url, detail } = takeMembers(reader, at, fields['input_image part']);
    return { kind: 'image', at, url, detail: detail === undefined ? detail : readDetail(reader, detail) };
  }
  if (type === 'input_file') {
    const { filename: name, file_data: data } = takeMembers(reader, at, fields['input_file part']);
    return { kind: 'file', at, name, data };
  }
  if (type === 'input_audio') {
    return { kind: 'audio', at, audio: takeMembers(reader, at, fields['input_audio part']).input_audio };
  }
  if (type !== 'encrypted_content') return leaveUnknown(reader, at, knownParts, cantTake);
  reader.leftOut.push(at);
  return undefined;
}
