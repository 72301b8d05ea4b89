import type { Cooperative } from '../../json/cooperative.ts';
import type { Node } from '../../json/scan.ts';
import type { ClientTool } from '../tools.ts';
import type { Members } from './members.ts';
import { type Choice, createOffers, type Offer, type Selection } from './offers.ts';
import type { Reading, RefusedTypes } from './reading.ts';
import { responsesFields as fields } from './responses-fields.ts';

/** Tools that agents offer by default and that run at the vendor: left out, unless one is forced. */
export const hostedTools = /^(web_search|image_generation$)/;

const refusedTools: RefusedTypes = [
  [
    /^(file_search|code_interpreter|mcp|computer|computer_use_preview|programmatic_tool_calling)$/,
    'runs at the vendor, and this model has none. Leave it out of tools.',
  ],
  [/^(local_shell|shell|apply_patch)$/, 'is a tool whose calls this model does not know. Offer a function instead.'],
];

/** A list of tools: their namespace, and the names of those that a search has found. */
interface Around {
  readonly namespace?: string | undefined;
  readonly found?: string[];
}

export type ResponsesTools = ReturnType<typeof createResponsesTools>;

/** The tools that a request offers, wherever they stand in it. */
export function createResponsesTools(reading: Reading) {
  const { json, names } = reading;
  const offers = createOffers(reading);
  const hosted = new Map<string, Node>();
  let deferred: Node | undefined; // the first that only a search may load
  let hasSearch = false;

  function offer(tool: Offer, { found }: Around): void {
    offers.add(tool);
    found?.push(names.nameOf(tool.tool));
  }

  function readTool(at: Node, around: Around): Cooperative<void> | undefined {
    const type = reading.typeOf(at);
    if (type === 'function' || type === 'custom') {
      const tool = type === 'function' ? readFunction(reading, at, around) : readCustom(reading, at, around);
      if (tool.deferred === undefined || around.found) offer(tool, around);
      else deferred ??= tool.deferred;
    } else if (type === 'namespace' && around.namespace === undefined) {
      const { required, requiredText } = reading.take(at, fields['namespace tool']);
      const namespace = requiredText('name');
      const list = required('tools');
      if (json.next(list) === list + 1) reading.leftOut.push(at); // without tools it is nothing
      return readTools(list, { ...around, namespace });
    } else if (type === 'tool_search' && around.namespace === undefined) {
      offer(readSearch(reading, at), around);
      hasSearch = true;
    } else if (hostedTools.test(type)) {
      hosted.set(type, at);
      reading.leftOut.push(at);
    } else reading.refuseUnknown(at, refusedTools);
    return undefined;
  }

  function* readTools(list: Node, around: Around = {}): Cooperative<void> {
    reading.requireKind(list, 'array');
    for (const tool of json.elements(list)) {
      const rest = readTool(tool, around);
      if (rest !== undefined) yield* rest;
      if (reading.isPauseDue(tool)) yield;
    }
  }

  function* readChoice(at: Node): Cooperative<Choice> {
    reading.requireKind(at, 'string', 'object');
    if (json.kind(at) === 'string') return { at, mode: readMode(reading, at) };
    const readName = (tool: Node) => offers.nameOf(tool, readReference(reading, tool, hosted));
    if (reading.typeOf(at) !== 'allowed_tools') return { at, mode: 'required', forced: readName(at) };
    const { required } = reading.take(at, fields.tool_choice);
    const allowed = yield* reading.readList(required('tools'), (entry) => {
      if (!hostedTools.test(reading.typeOf(entry))) return readName(entry);
      reading.leftOut.push(entry);
      return undefined;
    });
    return { at, mode: readMode(reading, required('mode')), allowed: new Set(allowed) };
  }

  return {
    read: readTools,
    /** What is sent of all tools: those that only a search may load are among them once they were found. */
    *select(choice: Node | undefined): Cooperative<Selection> {
      if (deferred !== undefined && !hasSearch) {
        reading.refuse(deferred, 'needs a tool_search among the tools, or no search could load the tool.');
      }
      return offers.select(choice === undefined ? undefined : yield* readChoice(choice));
    },
  };
}

type Read = Offer & { readonly deferred: Node | undefined };

function readFunction(reading: Reading, at: Node, { namespace }: Around): Read {
  const tool = reading.take(at, fields['function tool']);
  return {
    at,
    tool: { kind: 'function', name: tool.requiredText('name'), namespace },
    description: tool.raw('description'),
    parameters: tool.raw('parameters'),
    strict: tool.raw('strict'),
    deferred: deferredIn(tool),
  };
}

function readCustom(reading: Reading, at: Node, { namespace }: Around): Read {
  const tool = reading.take(at, fields['custom tool']);
  const format = tool.nodes.format;
  return {
    at,
    tool: { kind: 'custom', name: tool.requiredText('name'), namespace },
    description: tool.string('description'),
    grammar: format === undefined ? undefined : readGrammar(reading, format),
    deferred: deferredIn(tool),
  };
}

function readGrammar(reading: Reading, at: Node): Offer['grammar'] {
  const type = reading.typeOf(at);
  const { requiredString } = reading.take(at, fields['custom tool.format']);
  if (type === 'text') return undefined;
  if (type !== 'grammar') reading.refuseUnknown(at);
  return { at, syntax: requiredString('syntax'), definition: requiredString('definition') };
}

/** The tool by which a client searches among its own. */
export const search: ClientTool = { kind: 'tool_search', name: 'tool_search' };

function readSearch(reading: Reading, at: Node): Offer {
  const { raw } = reading.take(at, fields['tool_search tool']);
  requireClientSearch(reading, at, raw('execution'));
  return { at, tool: search, description: raw('description'), parameters: raw('parameters') };
}

/** Refuses a search that the vendor would have to run. */
export function requireClientSearch(reading: Reading, at: Node, execution: string | undefined): void {
  if (execution === '"client"') return;
  reading.refuse(at, 'is a tool search at the vendor, and this model has none. Set its execution to client.');
}

function deferredIn({ nodes, raw }: Members<'defer_loading'>): Node | undefined {
  return raw('defer_loading') === 'true' ? nodes.defer_loading : undefined;
}

function readMode(reading: Reading, at: Node): Choice['mode'] {
  const mode = reading.textOf(at);
  if (mode === 'auto' || mode === 'none' || mode === 'required') return mode;
  return reading.refuse(at, 'must be auto, none or required.');
}

/** The tool that a choice names. */
function readReference(reading: Reading, at: Node, hosted: ReadonlyMap<string, Node>): ClientTool {
  const type = reading.typeOf(at);
  if (hostedTools.test(type)) {
    const remedy = type.startsWith('web_search') ? 'In Codex: web_search = "disabled".' : 'Leave it out.';
    reading.refuseType(hosted.get(type) ?? at, `runs at the vendor, and this model has none. ${remedy}`);
  }
  const reference = reading.take(at, fields.tool_choice);
  if (type === 'tool_search') return search;
  if (type !== 'function' && type !== 'custom') return reading.refuseUnknown(at);
  return readReferred(type, reference);
}

export const readReferred = (
  kind: 'function' | 'custom',
  { requiredText, text }: Members<'name' | 'namespace'>,
): ClientTool => ({ kind, name: requiredText('name'), namespace: text('namespace') });
