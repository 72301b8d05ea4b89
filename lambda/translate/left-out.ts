import { pathTo } from '../dialects/body.ts';
import type { Json, Node } from '../json/scan.ts';

/** What a translation had no place for: the first places in the client's body, and how many more there are. */
export interface LeftOut {
  readonly places: readonly string[];
  readonly more: number;
}

// With all that stands between them, they fit into 2 KB.
const mostPlaces = 20;
const longestPlace = 100;

/** Places in the order of the body. */
export function listLeftOut(json: Json, nodes: readonly Node[]): LeftOut {
  const sorted = Int32Array.from(nodes).sort();
  // Repeated members have one place.
  const places = new Set([...sorted.slice(0, mostPlaces)].map((node) => pathTo(json, node)));
  return { places: [...places].map(toHeaderText), more: Math.max(0, sorted.length - mostPlaces) };
}

/** A comma separates places, and only visible ASCII can be sent in a header. */
function toHeaderText(place: string): string {
  // Cut first: a name may be a megabyte long.
  return place.slice(0, longestPlace).replace(/[^\x21-\x7e]|,/g, '?');
}

/** The value of the header, such as `tools[7], input[3].encrypted_content, +2`; undefined if nothing was left out. */
export function renderLeftOut({ places, more }: LeftOut): string | undefined {
  return [...places, ...(more > 0 ? [`+${more}`] : [])].join(', ') || undefined;
}
