import type { Json, Node } from '../../../json/scan.ts';
import { pathTo } from '../content.ts';

/** What an upstream was not told. */
export interface LeftOut {
  /** The places, as a header names them; undefined if there are none. */
  readonly leftOut: string | undefined;
  /** The same for the log, which holds no name of the caller's own. */
  readonly leftOutForLog: string | undefined;
}

// With all that stands between them, they fit into 2 KB.
const mostPlaces = 20;
const longestPlace = 100;

/** The nodes to name, in the order of the body. */
export function firstOf(nodes: readonly Node[]): readonly Node[] {
  return nodes.toSorted((a, b) => a - b).slice(0, mostPlaces);
}

/**
 * Names the first places of so many, such as `tools[7], input[3].encrypted_content, +2`; undefined if there are none. The names of
 * `unnamed` ones are left out.
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
  // A copy, because a single place may be a slice of the body, and would keep all of that in memory until the request is logged.
  return named === '' ? undefined : JSON.parse(JSON.stringify(named));
}

/** The path to a member; without its own name if that is not known, `messages[0].?`. */
function placeOf(json: Json, node: Node, isUnnamed = false): string {
  const path = pathTo(json, node);
  return isUnnamed && json.isKey(node - 1) ? `${path.slice(0, path.length - json.string(node - 1).length)}?` : path;
}

/** A comma separates places, and only visible ASCII can be sent in a header. */
function toHeaderText(place: string): string {
  // Cut first: a name may be a megabyte long.
  return place.slice(0, longestPlace).replace(/[^\x21-\x7e]|,/g, '?');
}
