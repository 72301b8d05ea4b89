import type { Node } from '../../json/scan.ts';
import type { ToolChoice, ToolDefinition } from '../model/request/model-request.ts';
import {
  type RefusedTypes,
  refuse,
  refuseByType,
  refuseType,
  refuseUnknown,
  requireKind,
  typeOf,
} from '../model/request/refuse-item.ts';
import { countTool, type RequestReader, readList } from '../model/request/request-reader.ts';
import { takeMembers } from '../model/request/take-members.ts';
import type { ClientTool } from '../model/tools.ts';
import { responsesFields as fields } from './request-fields.ts';

/** Tools that run at the vendor, but that agents offer by default. Left out, unless the request forces one. */
const hostedTools = /^(web_search|image_generation$)/;

const refusedTools: RefusedTypes = [
  [
    /^(file_search|code_interpreter|mcp|computer|computer_use_preview|programmatic_tool_calling)$/,
    'runs at the vendor, and this model has none. Leave it out of tools.',
  ],
  [/^(local_shell|shell|apply_patch)$/, 'is a tool whose calls this model does not know. Offer a function instead.'],
];

/** The list that a tool stands in: its namespace, whether it is in the history, and whether a search found it. */
interface ToolContext {
  readonly namespace?: string;
  readonly isLater?: boolean;
  readonly found?: boolean;
}

export const searchTool: ClientTool = { kind: 'tool_search', name: 'tool_search' };

export type ToolOffers = ReturnType<typeof createToolOffers>;

/** Collects the tools that a request offers, wherever they stand in it. */
export function createToolOffers(reader: RequestReader) {
  const { json } = reader;
  const offers: ToolDefinition[] = [];
  const deferred: Node[] = [];
  const hosted = new Map<string, Node>();

  function readTool(at: Node, context: ToolContext): readonly ClientTool[] {
    const type = typeOf(reader, at);
    if (type !== 'namespace') countTool(reader, at);
    if (type === 'function' || type === 'custom') {
      const { offer, deferredAt } = readOwnTool(reader, at, type, context);
      const isDeferred = deferredAt !== undefined && context.found !== true;
      if (isDeferred) deferred.push(deferredAt);
      else offers.push(offer);
      return isDeferred ? [] : [offer.tool];
    }
    if (type === 'namespace' && context.namespace === undefined) {
      const { name: namespace, tools } = takeMembers(reader, at, fields['namespace tool']);
      if (json.next(tools) === tools + 1) reader.leftOut.push(at); // without tools, nothing of it remains
      return readTools(tools, { ...context, namespace });
    }
    if (type === 'tool_search' && context.namespace === undefined) {
      const { execution, ...described } = takeMembers(reader, at, fields['tool_search tool']);
      requireClientSearch(reader, at, execution);
      offers.push({ at, isLater: context.isLater, tool: searchTool, ...described });
      return [searchTool];
    }
    if (!hostedTools.test(type)) refuseByType(reader, at, refusedTools);
    hosted.set(type, at);
    reader.leftOut.push(at);
    return [];
  }

  function readTools(list: Node, context: ToolContext): ClientTool[] {
    requireKind(reader, list, 'array');
    const tools: ClientTool[] = [];
    for (const tool of json.elements(list)) {
      for (const read of readTool(tool, context)) tools.push(read);
    }
    return tools;
  }

  return {
    /** Reads a list of tools, and returns those that are offered from here on: deferred ones only in what a client's search found. */
    read: (list: Node, context: ToolContext = {}): ClientTool[] => readTools(list, context),
    readChoice: (choice: Node): ToolChoice => readChoice(reader, choice, hosted),
    /** The tools that are offered. Deferred ones are included once a search has found them. */
    finish(): readonly ToolDefinition[] {
      const [first] = deferred;
      if (first !== undefined && !offers.some(({ tool }) => tool.kind === 'tool_search')) {
        refuse(reader, first, 'needs a tool_search among the tools, or no search could load the tool.');
      }
      return offers;
    },
  };
}

/** Reads a function or custom tool, and the node of its `defer_loading`. */
function readOwnTool(
  reader: RequestReader,
  at: Node,
  kind: 'function' | 'custom',
  { namespace, isLater }: ToolContext,
) {
  if (kind === 'function') {
    const { name, defer_loading: deferredAt, ...described } = takeMembers(reader, at, fields['function tool']);
    return { offer: { at, isLater, tool: { kind, name, namespace }, ...described }, deferredAt };
  }
  const { name, description, format, defer_loading: deferredAt } = takeMembers(reader, at, fields['custom tool']);
  const grammar = format === undefined ? undefined : readGrammar(reader, format);
  return { offer: { at, isLater, tool: { kind, name, namespace }, description, grammar }, deferredAt };
}

function readGrammar(reader: RequestReader, at: Node): ToolDefinition['grammar'] {
  const type = typeOf(reader, at);
  if (type === 'grammar') return { at, ...takeMembers(reader, at, fields['custom tool.format of a grammar']) };
  takeMembers(reader, at, fields['custom tool.format']);
  return type === 'text' ? undefined : refuseUnknown(reader, at);
}

/** Refuses a tool search that the vendor would have to run. */
export function requireClientSearch(reader: RequestReader, at: Node, execution: string | undefined): void {
  if (execution === '"client"') return;
  refuse(reader, at, 'is a tool search at the vendor, and this model has none. Set its execution to client.');
}

function readChoice(reader: RequestReader, at: Node, hosted: ReadonlyMap<string, Node>): ToolChoice {
  requireKind(reader, at, 'string', 'object');
  if (reader.json.kind(at) === 'string') return { at, mode: readMode(reader, at) };
  if (typeOf(reader, at) !== 'allowed_tools') {
    return { at, mode: 'required', forced: readReference(reader, at, hosted) };
  }
  const { mode, tools } = takeMembers(reader, at, fields['tool_choice of tools']);
  const allowed = readList(reader, tools, (entry) => {
    if (!hostedTools.test(typeOf(reader, entry))) return { at: entry, tool: readReference(reader, entry, hosted) };
    reader.leftOut.push(entry);
    return undefined;
  });
  return { at, mode: readMode(reader, mode), allowed };
}

function readMode({ json }: RequestReader, at: Node): ToolChoice['mode'] {
  const mode = json.string(at);
  if (mode === 'auto' || mode === 'none' || mode === 'required') return mode;
  return refuse({ json }, at, 'must be auto, none or required.');
}

/** Reads the tool that a choice names. */
function readReference(reader: RequestReader, at: Node, hosted: ReadonlyMap<string, Node>): ClientTool {
  const type = typeOf(reader, at);
  if (hostedTools.test(type)) {
    const remedy = type.startsWith('web_search') ? 'In Codex: web_search = "disabled".' : 'Leave it out.';
    refuseType(reader, hosted.get(type) ?? at, `runs at the vendor, and this model has none. ${remedy}`);
  }
  if (type === 'function' || type === 'custom') {
    return { kind: type, ...takeMembers(reader, at, fields['tool_choice of a tool']) };
  }
  takeMembers(reader, at, fields.tool_choice);
  return type === 'tool_search' ? searchTool : refuseUnknown(reader, at);
}
