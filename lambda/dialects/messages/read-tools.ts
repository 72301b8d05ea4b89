import type { Node } from '../../json/scan.ts';
import type { ToolDefinition } from '../model/request/model-request.ts';
import {
  type RefusedTypes,
  refuse,
  refuseByType,
  refuseUnknown,
  requireKind,
  typeOf,
} from '../model/request/refuse-item.ts';
import { countTool, type RequestReader } from '../model/request/request-reader.ts';
import { takeMembers } from '../model/request/take-members.ts';
import { messagesFields as fields } from './request-fields.ts';

/** The vendor's tools, each with a type of its own. */
const refusedTools: RefusedTypes = [
  [
    /^(web_search|web_fetch|code_execution|tool_search|advisor|mcp_toolset)/,
    'runs at the vendor, and this model has none. Leave it out of tools.',
  ],
  [
    /^(bash|text_editor|memory|computer|browser)/,
    "is described to its vendor's models only. Offer a tool with a description and an input_schema.",
  ],
];

/** References to tools on servers that the vendor connects to. */
const ofServers = /^mcp_tool(set)?_reference$/;

export type ToolOffers = ReturnType<typeof createToolOffers>;

/** Collects the tools that the model may call: those of the request, with the changes that the conversation makes. */
export function createToolOffers(reader: RequestReader) {
  const { json } = reader;
  /** All tools that are described, by name. If several share one, the writer chooses. */
  const described = new Map<string, ToolDefinition[]>();
  /** The names of the tools that may be called now. Later ones go to the end, so that the prompt's prefix stays the same for caches. */
  const offered = new Set<string>();
  let firstDeferred: Node | undefined;
  let isChanged = false;

  function readTool(at: Node) {
    countTool(reader, at);
    const type = typeOf(reader, at);
    if (type !== '' && type !== 'custom') refuseByType(reader, at, refusedTools);
    const { name, description, input_schema: parameters, strict, defer_loading } = takeMembers(reader, at, fields.tool);
    const offer: ToolDefinition = { at, tool: { kind: 'function', name }, description, parameters, strict };
    return { name, offer, isDeferred: defer_loading === true };
  }

  /** Offers a described tool from here on. Returns false if there is none of this name. */
  function find(name: string): boolean {
    if (!described.has(name)) return false;
    offered.add(name);
    return true;
  }

  /** The tool name that a tool change refers to. */
  function readReference(at: Node): string {
    const type = typeOf(reader, at);
    if (ofServers.test(type)) refuse(reader, at, 'names a tool of a server that runs at the vendor. Leave it out.');
    if (type !== 'tool_reference') refuseUnknown(reader, at);
    return takeMembers(reader, at, fields['reference in a tool change']).name;
  }

  return {
    /** Reads the tools of the request. Deferred ones are offered once a search finds them or the conversation adds them. */
    read(list: Node): void {
      requireKind(reader, list, 'array');
      for (const at of json.elements(list)) {
        const { name, offer, isDeferred } = readTool(at);
        const namesakes = described.get(name);
        if (namesakes === undefined) described.set(name, [offer]);
        else namesakes.push(offer);
        if (isDeferred) firstDeferred ??= at;
        else offered.add(name);
      }
    },
    find,
    /** Offers one more tool from here on. If the block describes it, that replaces an earlier tool of the same name. */
    add(block: Node): void {
      isChanged = true;
      const { tool } = takeMembers(reader, block, fields['tool_addition block']);
      if (typeOf(reader, tool) === 'tool_definition') {
        const { name, offer } = readTool(takeMembers(reader, tool, fields['definition in a tool change']).definition);
        described.set(name, [offer]);
        offered.add(name);
      } else if (!find(readReference(tool))) {
        refuse(reader, tool, 'names a tool that is not among the tools. Add it to them.');
      }
    },
    /** Stops offering a tool. */
    remove(block: Node): void {
      isChanged = true;
      const { tool } = takeMembers(reader, block, fields['tool_removal block']);
      offered.delete(readReference(tool));
    },
    finish(): readonly ToolDefinition[] {
      if (firstDeferred !== undefined && offered.size === 0 && !isChanged) {
        const what = 'waits for a search, and no tool is left that could search. Leave out its defer_loading.';
        refuse(reader, firstDeferred, what);
      }
      return [...offered].flatMap((name) => described.get(name) ?? []);
    },
  };
}
