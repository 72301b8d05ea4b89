import type { RequestFile } from '../budget/estimate.ts';
import { type Cooperative, nodesPerTurn } from '../json/cooperative.ts';
import type { Json, Node } from '../json/scan.ts';
import { stringMember } from './answer.ts';

/** Where a dialect reads files. */
export interface FileRules {
  /** The top-level members that hold content. */
  readonly roots: ReadonlySet<string>;
  /** Members that may hold further content; others (schemas, arguments, texts) are not searched. */
  readonly within: ReadonlySet<string> | 'all';
  /** The file that an object of this type is; undefined for a type that is none. */
  readFile(body: Json, part: Node, type: string): RequestFile | undefined;
}

/** Walks the content in document order, which needs no stack however deep it is nested. */
export function* findFilesIn(body: Json, rules: FileRules, visit: (file: RequestFile) => void): Cooperative<void> {
  for (const root of body.keys(body.root)) {
    if (!rules.roots.has(body.string(root))) continue;
    const end = body.next(root + 1);
    let seen = 0;
    for (let node = root + 1; node < end; ) {
      if (++seen % nodesPerTurn === 0) yield;
      if (body.isKey(node)) {
        node = rules.within === 'all' || rules.within.has(body.string(node)) ? node + 1 : body.next(node + 1);
        continue;
      }
      const type = stringMember(body, node, 'type');
      const file = type === undefined ? undefined : rules.readFile(body, node, type);
      if (file !== undefined) visit(file);
      node += 1;
    }
  }
}

/** The string at a path of members, or on the way there: some upstreams take `"image_url": "…"` for `{"url": "…"}`. */
export function stringAt(body: Json, part: Node, ...path: readonly string[]): Node | undefined {
  let node: Node | undefined = part;
  for (const name of path) {
    node = body.member(node, name);
    if (node === undefined) return undefined;
    if (body.kind(node) === 'string') return node;
  }
  return undefined;
}
