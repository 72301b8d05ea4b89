import type { Cooperative } from '../../json/cooperative.ts';
import type { Node } from '../../json/scan.ts';
import type { ClientTool } from '../tools.ts';
import type { Choice, Offer } from './asking.ts';
import {
  isPauseDue,
  type Reading,
  rawOf,
  refuse,
  refuseType,
  refuseUnknown,
  required,
  requireKind,
  takeMembers,
  takeString,
  textOf,
  typeOf,
} from './reading.ts';
import { responsesFields as fields } from './responses-fields.ts';

/** The tools that a request offers, wherever they stand in it. */
export interface ToolOffers {
  /** Reads a list of tools. */
  read(list: Node): Cooperative<void>;
  /** Reads what a search of the client found: from then on these tools are offered. */
  readFound(list: Node): Cooperative<ClientTool[]>;
  /** Refuses a search that the vendor would have to run. */
  requireClient(at: Node, execution: Node | undefined): void;
  readChoice(choice: Node): Cooperative<Choice>;
  /** All tools that may be offered: those that only a search may load are there once they were found. */
  finish(): readonly Offer[];
}

/** Tools that agents offer by default and that run at the vendor: left out, unless one is forced. */
export const hostedTools = /^(web_search|image_generation$)/;

const vendorRun = 'runs at the vendor, and this model has none. Leave it out of tools.';
const clientRun = 'is a tool whose calls this model does not know. Offer a function instead.';

/** Tools that are refused, with the end of the sentence. */
const refusedTools: Readonly<Record<string, string>> = {
  file_search: vendorRun,
  code_interpreter: vendorRun,
  mcp: vendorRun,
  computer: vendorRun,
  computer_use_preview: vendorRun,
  programmatic_tool_calling: vendorRun,
  local_shell: clientRun,
  shell: clientRun,
  apply_patch: clientRun,
};

/** A tool within a list: its namespace, and whether a search has found it. */
interface Around {
  readonly namespace?: string | undefined;
  readonly found?: boolean;
}

export function createToolOffers(reading: Reading): ToolOffers {
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
      const { name, tools } = takeMembers(reading, tool, fields['namespace tool']);
      const namespace = nameOf(reading, tool, name);
      const list = required(reading, tool, 'tools', tools);
      if (json.next(list) === list + 1) reading.leftOut.push(tool); // without tools it is nothing
      return yield* readList(list, { ...around, namespace });
    }
    if (type === 'tool_search' && around.namespace === undefined) {
      const offer = readSearch(reading, tool, requireClient);
      offers.push(offer);
      return [offer.tool];
    }
    if (hostedTools.test(type)) {
      hosted.set(type, tool);
      reading.leftOut.push(tool);
      return [];
    }
    const sentence = Object.hasOwn(refusedTools, type) ? refusedTools[type] : undefined;
    return sentence === undefined ? refuseUnknown(reading, tool) : refuseType(reading, tool, sentence);
  }

  function* readList(list: Node, around: Around): Cooperative<ClientTool[]> {
    requireKind(reading, list, 'array');
    const tools: ClientTool[] = [];
    for (const tool of json.elements(list)) {
      for (const read of yield* readTool(tool, around)) tools.push(read);
      if (isPauseDue(reading, tool)) yield;
    }
    return tools;
  }

  const requireClient: ToolOffers['requireClient'] = (at, execution) => {
    if (execution !== undefined && json.raw(execution) === '"client"') return;
    refuse(reading, at, 'is a tool search at the vendor, and this model has none. Set its execution to client.');
  };

  return {
    *read(list) {
      yield* readList(list, {});
    },
    readFound: (list) => readList(list, { found: true }),
    requireClient,
    readChoice: (choice) => readChoice(reading, choice, hosted),
    finish() {
      const [first] = deferred;
      if (first !== undefined && !offers.some(({ tool }) => tool.kind === 'tool_search')) {
        refuse(reading, first, 'needs a tool_search among the tools, or no search could load the tool.');
      }
      return offers;
    },
  };
}

function nameOf(reading: Reading, object: Node, name: Node | undefined): string {
  return textOf(reading, required(reading, object, 'name', name));
}

type Read = Offer & { readonly deferred: Node | undefined };

function readFunction(reading: Reading, at: Node, { namespace }: Around): Read {
  const taken = takeMembers(reading, at, fields['function tool']);
  const name = nameOf(reading, at, taken.name);
  return {
    at,
    tool: { kind: 'function', name, namespace },
    description: rawOf(reading, taken.description),
    parameters: rawOf(reading, taken.parameters),
    strict: rawOf(reading, taken.strict),
    deferred: ifTrue(reading, taken.defer_loading),
  };
}

function readCustom(reading: Reading, at: Node, { namespace }: Around): Read {
  const taken = takeMembers(reading, at, fields['custom tool']);
  const name = nameOf(reading, at, taken.name);
  return {
    at,
    tool: { kind: 'custom', name, namespace },
    description: taken.description === undefined ? undefined : takeString(reading, taken.description),
    parameters: undefined,
    strict: undefined,
    grammar: taken.format === undefined ? undefined : readGrammar(reading, taken.format),
    deferred: ifTrue(reading, taken.defer_loading),
  };
}

function readGrammar(reading: Reading, at: Node): Offer['grammar'] {
  const type = typeOf(reading, at);
  const { syntax, definition } = takeMembers(reading, at, fields['custom tool.format']);
  if (type === 'text') return undefined;
  if (type !== 'grammar') refuseUnknown(reading, at);
  return {
    at,
    syntax: takeString(reading, required(reading, at, 'syntax', syntax)),
    definition: takeString(reading, required(reading, at, 'definition', definition)),
  };
}

function readSearch(reading: Reading, at: Node, requireClient: ToolOffers['requireClient']): Offer {
  const { execution, description, parameters } = takeMembers(reading, at, fields['tool_search tool']);
  requireClient(at, execution);
  return {
    at,
    tool: { kind: 'tool_search', name: 'tool_search' },
    description: rawOf(reading, description),
    parameters: rawOf(reading, parameters),
    strict: undefined,
  };
}

function ifTrue({ json }: Reading, value: Node | undefined): Node | undefined {
  return value !== undefined && json.raw(value) === 'true' ? value : undefined;
}

function* readChoice(reading: Reading, at: Node, hosted: ReadonlyMap<string, Node>): Cooperative<Choice> {
  const { json } = reading;
  requireKind(reading, at, 'string', 'object');
  if (json.kind(at) === 'string') return { at, mode: readMode(reading, at) };
  if (typeOf(reading, at) !== 'allowed_tools') {
    return { at, mode: 'required', forced: readReference(reading, at, hosted) };
  }
  const { mode, tools } = takeMembers(reading, at, fields.tool_choice);
  const list = required(reading, at, 'tools', tools);
  requireKind(reading, list, 'array');
  const allowed: { readonly at: Node; readonly tool: ClientTool }[] = [];
  for (const entry of json.elements(list)) {
    if (hostedTools.test(typeOf(reading, entry))) reading.leftOut.push(entry);
    else allowed.push({ at: entry, tool: readReference(reading, entry, hosted) });
    if (isPauseDue(reading, entry)) yield;
  }
  return { at, mode: readMode(reading, required(reading, at, 'mode', mode)), allowed };
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
  const { name, namespace } = takeMembers(reading, at, fields.tool_choice);
  if (type === 'tool_search') return { kind: 'tool_search', name: 'tool_search' };
  if (type !== 'function' && type !== 'custom') return refuseUnknown(reading, at);
  return { kind: type, name: nameOf(reading, at, name), namespace: textOf(reading, namespace) };
}
