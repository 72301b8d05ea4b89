import { hash } from 'node:crypto';

/** What a client's tool takes: arguments as JSON, a free text, or a search among tools that the client keeps. */
type ToolKind = 'function' | 'custom' | 'tool_search';

/** A tool as the client knows it. */
export interface ClientTool {
  readonly kind: ToolKind;
  readonly name: string;
  readonly namespace?: string | undefined;
}

/** The client's tools behind the names that the upstream uses. A function of the same name needs no entry. */
export type ToolNames = ReadonlyMap<string, ClientTool>;

/** The client's tool behind a name that the upstream uses; unknown: a function of that name. */
export const toolNamed = (names: ToolNames, upstreamName: string): ClientTool =>
  names.get(upstreamName) ?? { kind: 'function', name: upstreamName };

/** In bytes: what an entry takes besides its characters. */
const costOfEntry = 256;

/** The memory that they take while an answer runs, in bytes: never less than it is, as any character may take two. */
export function sizeOf(names: ToolNames): number {
  let characters = 0;
  for (const [upstreamName, { name, namespace = '' }] of names) {
    characters += upstreamName.length + name.length + namespace.length;
  }
  return names.size * costOfEntry + 2 * characters;
}

export type ToolTable = ReturnType<typeof createToolTable>;

/** Names for the tools of one request. `longest`: how many characters a name may have upstream. */
export function createToolTable(longest: number) {
  /** By what says which tool it is. */
  const names = new Map<string, string>();
  /** By the tool itself: a search that found thousands lists them at once, and to say which one it is takes far longer. */
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
    /** The way back, for the answer. */
    renamed,
    /** The tool's name upstream: always the same one for the same tool. */
    nameOf(tool: ClientTool): string {
      const name = known.get(tool) ?? findOrMake(tool);
      known.set(tool, name);
      return name;
    },
  };
}

/** Copied, because a slice of the request would keep all of its text in memory as long as the answer takes. */
function addCopy(names: Map<string, ClientTool>, upstreamName: string, tool: ClientTool): void {
  const [name, copy]: [string, ClientTool] = JSON.parse(JSON.stringify([upstreamName, tool]));
  names.set(name, copy);
}
