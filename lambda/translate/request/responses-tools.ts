import type { Cooperative } from '../../json/cooperative.ts';
import type { Node } from '../../json/scan.ts';
import type { ClientTool } from '../tools.ts';
import type { Choice, Offer } from './asking.ts';
import { type Members, takeMembers } from './members.ts';
import {
  isPauseDue,
  type Reading,
  type RefusedTypes,
  readList,
  refuse,
  refuseByType,
  refuseType,
  refuseUnknown,
  requireKind,
  textOf,
  typeOf,
} from './reading.ts';
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

/** A tool within a list: its namespace, and whether a search has found it. */
interface Around {
  readonly namespace?: string | undefined;
  readonly found?: boolean;
}

export type ToolOffers = ReturnType<typeof createToolOffers>;

/** The tools that a request offers, wherever they stand in it. */
export function createToolOffers(reading: Reading) {
  const { json } = reading;
  const offers: Offer[] = [];
  const deferred: Node[] = [];
  const hosted = new Map<string, Node>();

  function* readTool(tool: Node, around: Around): Cooperative<readonly ClientTool[]> {
    const type = typeOf(reading, tool);
    if (type === 'function' || type === 'custom') {
      const offer = type === 'function' ? readFunction(reading, tool, around) : readCustom(reading, tool, around);
      const isDeferred = offer.deferred !== undefined && around.found !== true;
      if (isDeferred) deferred.push(offer.deferred);
      else offers.push(offer);
      return isDeferred ? [] : [offer.tool];
    }
    if (type === 'namespace' && around.namespace === undefined) {
      const { required, requiredText } = takeMembers(reading, tool, fields['namespace tool']);
      const namespace = requiredText('name');
      const list = required('tools');
      if (json.next(list) === list + 1) reading.leftOut.push(tool); // without tools it is nothing
      return yield* readTools(list, { ...around, namespace });
    }
    if (type === 'tool_search' && around.namespace === undefined) {
      const offer = readSearch(reading, tool);
      offers.push(offer);
      return [offer.tool];
    }
    if (hostedTools.test(type)) {
      hosted.set(type, tool);
      reading.leftOut.push(tool);
      return [];
    }
    return refuseByType(reading, tool, refusedTools);
  }

  function* readTools(list: Node, around: Around): Cooperative<ClientTool[]> {
    requireKind(reading, list, 'array');
    const tools: ClientTool[] = [];
    for (const tool of json.elements(list)) {
      for (const read of yield* readTool(tool, around)) tools.push(read);
      if (isPauseDue(reading, tool)) yield;
    }
    return tools;
  }

  return {
    /** Reads a list of tools. */
    *read(list: Node): Cooperative<void> {
      yield* readTools(list, {});
    },
    /** Reads what a search of the client found: from then on these tools are offered. */
    readFound: (list: Node): Cooperative<ClientTool[]> => readTools(list, { found: true }),
    readChoice: (choice: Node): Cooperative<Choice> => readChoice(reading, choice, hosted),
    /** All tools that may be offered: those that only a search may load are there once they were found. */
    finish(): readonly Offer[] {
      const [first] = deferred;
      if (first !== undefined && !offers.some(({ tool }) => tool.kind === 'tool_search')) {
        refuse(reading, first, 'needs a tool_search among the tools, or no search could load the tool.');
      }
      return offers;
    },
  };
}

type Read = Offer & { readonly deferred: Node | undefined };

function readFunction(reading: Reading, at: Node, { namespace }: Around): Read {
  const tool = takeMembers(reading, at, fields['function tool']);
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
  const tool = takeMembers(reading, at, fields['custom tool']);
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
  const type = typeOf(reading, at);
  const { requiredString } = takeMembers(reading, at, fields['custom tool.format']);
  if (type === 'text') return undefined;
  if (type !== 'grammar') refuseUnknown(reading, at);
  return { at, syntax: requiredString('syntax'), definition: requiredString('definition') };
}

function readSearch(reading: Reading, at: Node): Offer {
  const { raw } = takeMembers(reading, at, fields['tool_search tool']);
  requireClientSearch(reading, at, raw('execution'));
  const tool = { kind: 'tool_search' as const, name: 'tool_search' };
  return { at, tool, description: raw('description'), parameters: raw('parameters') };
}

/** Refuses a search that the vendor would have to run. */
export function requireClientSearch(reading: Reading, at: Node, execution: string | undefined): void {
  if (execution === '"client"') return;
  refuse(reading, at, 'is a tool search at the vendor, and this model has none. Set its execution to client.');
}

function deferredIn({ nodes, raw }: Members<'defer_loading'>): Node | undefined {
  return raw('defer_loading') === 'true' ? nodes.defer_loading : undefined;
}

function* readChoice(reading: Reading, at: Node, hosted: ReadonlyMap<string, Node>): Cooperative<Choice> {
  requireKind(reading, at, 'string', 'object');
  if (reading.json.kind(at) === 'string') return { at, mode: readMode(reading, at) };
  if (typeOf(reading, at) !== 'allowed_tools') {
    return { at, mode: 'required', forced: readReference(reading, at, hosted) };
  }
  const { required } = takeMembers(reading, at, fields.tool_choice);
  const allowed = yield* readList(reading, required('tools'), (entry) => {
    if (!hostedTools.test(typeOf(reading, entry))) return { at: entry, tool: readReference(reading, entry, hosted) };
    reading.leftOut.push(entry);
    return undefined;
  });
  return { at, mode: readMode(reading, required('mode')), allowed };
}

function readMode(reading: Reading, at: Node): Choice['mode'] {
  const mode = textOf(reading, at);
  if (mode === 'auto' || mode === 'none' || mode === 'required') return mode;
  return refuse(reading, at, 'must be auto, none or required.');
}

/** The tool that a choice names. */
function readReference(reading: Reading, at: Node, hosted: ReadonlyMap<string, Node>): ClientTool {
  const type = typeOf(reading, at);
  if (hostedTools.test(type)) {
    const remedy = type.startsWith('web_search') ? 'In Codex: web_search = "disabled".' : 'Leave it out.';
    refuseType(reading, hosted.get(type) ?? at, `runs at the vendor, and this model has none. ${remedy}`);
  }
  const { requiredText, text } = takeMembers(reading, at, fields.tool_choice);
  if (type === 'tool_search') return { kind: 'tool_search', name: 'tool_search' };
  if (type !== 'function' && type !== 'custom') return refuseUnknown(reading, at);
  return { kind: type, name: requiredText('name'), namespace: text('namespace') };
}
