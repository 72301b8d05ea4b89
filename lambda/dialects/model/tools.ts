import { hash } from 'node:crypto';

/** A client's tool takes JSON arguments, a free text, or a query for tools that the client holds. */
type ToolKind = 'function' | 'custom' | 'tool_search';

/** A tool as the client knows it. */
export interface ClientTool {
  readonly kind: ToolKind;
  readonly name: string;
  readonly namespace?: string | undefined;
}

/** The client's tools by their names upstream. A function of the same name needs no entry. */
export type ToolNames = ReadonlyMap<string, ClientTool>;

/** The client's tool with this name upstream. An unknown name is a function of that name. */
export const toolNamed = (names: ToolNames, upstreamName: string): ClientTool =>
  names.get(upstreamName) ?? { kind: 'function', name: upstreamName };

/** In bytes, without its characters. */
const costOfEntry = 256;

/** An upper bound of the memory that they take while an answer runs, in bytes: a character takes at most two. */
export function sizeOf(names: ToolNames): number {
  let characters = 0;
  for (const [upstreamName, { name, namespace = '' }] of names) {
    characters += upstreamName.length + name.length + namespace.length;
  }
  return names.size * costOfEntry + 2 * characters;
}

export type ToolTable = ReturnType<typeof createToolTable>;

/** Names the tools of one request. `longest`: the upstream's limit for a name, in characters. */
export function createToolTable(longest: number) {
  /** By the tool's identity. */
  const names = new Map<string, string>();
  /** By the tool object, as a cache: a search may list thousands of tools, and computing an identity takes far longer. */
  const known = new Map<ClientTool, string>();
  const taken = new Set<string>();
  const renamed = new Map<string, ClientTool>();

  function findOrMake(tool: ClientTool): string {
    const identity = JSON.stringify([tool.kind, tool.namespace, tool.name]);
    const same = names.get(identity);
    if (same !== undefined) return same;
    const plain = tool.namespace === undefined ? tool.name : `${tool.namespace}__${tool.name}`;
    const fits = plain.length <= longest && !taken.has(plain);
    const name = fits ? plain : `${plain.slice(0, longest - 9)}_${hash('sha256', identity).slice(0, 8)}`;
    names.set(identity, name);
    taken.add(name);
    if (tool.kind !== 'function' || tool.name !== name) addCopy(renamed, name, tool);
    return name;
  }

  return {
    /** Maps upstream names back to the client's tools, for the answer. */
    renamed,
    /** The tool's name upstream, always the same for the same tool. */
    nameOf(tool: ClientTool): string {
      const name = known.get(tool) ?? findOrMake(tool);
      known.set(tool, name);
      return name;
    },
  };
}

/** Adds a copy, because a slice of the request would retain its whole text as long as the answer takes. */
function addCopy(names: Map<string, ClientTool>, upstreamName: string, tool: ClientTool): void {
  const [name, copy]: [string, ClientTool] = JSON.parse(JSON.stringify([upstreamName, tool]));
  names.set(name, copy);
}
