import { hash } from 'node:crypto';

/** What a client's tool takes: arguments as JSON, a free text, or a search among tools that the client keeps. */
type ToolKind = 'function' | 'custom' | 'tool_search';

/** A tool as the client knows it. */
export interface ClientTool {
  readonly kind: ToolKind;
  readonly name: string;
  readonly namespace?: string | undefined;
}

export type ToolTable = ReturnType<typeof createToolTable>;

/** The way back from the names that a translated request gave to tools. */
export type ToolNames = Pick<ToolTable, 'find'>;

/** Names for the tools of one request. `longest`: how many characters a name may have upstream. */
export function createToolTable(longest: number) {
  const names = new Map<string, string>();
  const tools = new Map<string, ClientTool>();
  return {
    /** The client's tool behind the name that the upstream uses; unknown: a function of that name. */
    find: (upstreamName: string): ClientTool => tools.get(upstreamName) ?? { kind: 'function', name: upstreamName },
    /** The tool's name upstream: always the same one for the same tool. */
    nameOf(tool: ClientTool): string {
      const identity = JSON.stringify([tool.kind, tool.namespace, tool.name]);
      const known = names.get(identity);
      if (known !== undefined) return known;
      const plain = tool.namespace === undefined ? tool.name : `${tool.namespace}__${tool.name}`;
      const fits = plain.length <= longest && !tools.has(plain);
      const name = fits ? plain : `${plain.slice(0, longest - 9)}_${hash('sha256', identity).slice(0, 8)}`;
      names.set(identity, name);
      tools.set(name, tool);
      return name;
    },
  };
}
