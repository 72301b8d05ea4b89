import type { Json, Node } from '../json/scan.ts';
import { nodesPerTurn, type Work } from '../json/turns.ts';

/** What counts as image or video content in a dialect, and which members may lead to it. */
export interface VisionRule {
  readonly types: readonly string[];
  /** Members whose mere presence in a content part makes it vision content. */
  readonly members: readonly string[];
  /** Members that show what a file contains: its media type, or a data URL that begins with it. */
  readonly files: readonly string[];
  /** Members that may hold further content; others (schemas, arguments, texts) are not searched. */
  readonly within: readonly string[] | 'all';
}

/**
 * The first image or video in a top-level member that has a rule, as a path such as `messages[2].content[0]`.
 * Every `type` of an object counts, even a repeated one, so that no parser finds content that this search overlooks.
 */
export function* findVisionContent(body: Json, rules: ReadonlyMap<string, VisionRule>): Work<string | undefined> {
  const end = body.next(body.root);
  for (let key = body.root + 1; key < end; key = body.next(key + 1)) {
    const rule = rules.get(body.string(key));
    const found = rule && (yield* findIn(body, key + 1, rule));
    if (found !== undefined) return pathTo(body, found);
  }
  return undefined;
}

/** Walks the value in document order, which needs no stack however deep it is nested. */
function* findIn(body: Json, value: Node, rule: VisionRule): Work<Node | undefined> {
  const end = body.next(value);
  let seen = 0;
  for (let node = value; node < end; ) {
    if (++seen % nodesPerTurn === 0) yield;
    if (!body.isKey(node)) {
      node += 1;
      continue;
    }
    const name = body.string(node);
    const content = node + 1;
    const kind = body.kind(content);
    if (name === 'type' && kind === 'string' && rule.types.includes(body.string(content))) return node;
    if (rule.members.includes(name) && kind !== 'null') return node;
    if (rule.files.includes(name) && kind === 'string' && picture.test(body.string(content))) return node;
    node = rule.within === 'all' || rule.within.includes(name) ? content : body.next(content);
  }
  return undefined;
}

const picture = /^(data:)?(image|video)\//i;

/** The path of the object that holds the key. */
function pathTo(body: Json, target: Node): string {
  let path = '';
  let node = body.root;
  for (;;) {
    const isObject = body.kind(node) === 'object';
    let inside: Node | undefined;
    let step = '';
    let index = 0;
    for (let child = node + 1; child < body.next(node); index += 1) {
      const value = isObject ? child + 1 : child;
      if (target >= value && target < body.next(value)) {
        inside = value;
        step = isObject ? `${path && '.'}${body.string(child)}` : `[${index}]`;
        break;
      }
      child = body.next(value);
    }
    if (inside === undefined) return path;
    path += step;
    node = inside;
  }
}
