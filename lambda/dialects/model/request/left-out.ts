import type { Json, Node } from '../../../json/scan.ts';
import { pathTo } from '../content.ts';

/** What was left out of a request. */
export interface LeftOut {
  /** The places, as the response header names them; undefined if there are none. */
  readonly leftOut: string | undefined;
  /** The same for the log, without names that the caller made up. */
  readonly leftOutForLog: string | undefined;
}

// With separators, they fit into 2 KB.
const mostPlaces = 20;
const longestPlace = 100;

/** The nodes to name, in the order of the body. */
export function firstOf(nodes: readonly Node[]): readonly Node[] {
  return nodes.toSorted((a, b) => a - b).slice(0, mostPlaces);
}

/**
 * Names the first of `count` places, such as `tools[7], input[3].encrypted_content, +2`; undefined if there are none. Members in
 * `unnamed` are shown without their name.
 */
export function namePlaces(
  json: Json,
  first: readonly Node[],
  count: number,
  unnamed?: ReadonlySet<Node>,
): string | undefined {
  // Repeated members have one place.
  const places = new Set(first.map((node) => placeOf(json, node, unnamed?.has(node))));
  const more = count > first.length ? [`+${count - first.length}`] : [];
  const named = [...[...places].map(toHeaderText), ...more].join(', ');
  // A copy, because a slice of the body would retain all of it until the request is logged.
  return named === '' ? undefined : JSON.parse(JSON.stringify(named));
}

/** The path to a member. Without its name: `messages[0].?`. */
function placeOf(json: Json, node: Node, isUnnamed = false): string {
  const path = pathTo(json, node);
  return isUnnamed && json.isKey(node - 1) ? `${path.slice(0, path.length - json.string(node - 1).length)}?` : path;
}

/** Commas separate places, and headers can only hold visible ASCII. */
function toHeaderText(place: string): string {
  // Cut first: a name may be a megabyte long.
  return place.slice(0, longestPlace).replace(/[^\x21-\x7e]|,/g, '?') || '?';
}
