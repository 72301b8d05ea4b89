import type { RequestFile } from '../../budget/estimate.ts';
import { stringMember } from '../../json/read.ts';
import type { Json, Node } from '../../json/scan.ts';

/** Members that may hold nested content. Others (schemas, arguments, texts) are not searched. */
type Within = readonly string[] | 'all';

/**
 * Searches these top-level members in document order, which needs no stack however deep they are nested. Returns the first node
 * that matches.
 */
export function searchIn<Place extends string>(
  body: Json,
  places: Readonly<Record<Place, Within>>,
  isFound: (node: Node, place: Place) => boolean,
): Node | undefined {
  for (const root of body.keys(body.root)) {
    const place = body.string(root) as Place;
    const within = Object.hasOwn(places, place) ? places[place] : undefined;
    const end = body.next(root + 1);
    for (let node = root + 1; within !== undefined && node < end; ) {
      if (isFound(node, place)) return node;
      const isSearched = !body.isKey(node) || within === 'all' || within.includes(body.string(node));
      node = isSearched ? node + 1 : body.next(node + 1);
    }
  }
  return undefined;
}

/** Reads a part as a file; undefined if it turns out to be none. */
type ReadFile = (body: Json, part: Node) => RequestFile | undefined;

/** Where a dialect's bodies hold content. */
export interface ContentPlaces {
  /** The top-level members with content, and the members in them that may hold nested content. */
  readonly content: Readonly<Record<string, Within>>;
  /** The path of an object whose member names are the caller's own. Each member is a text or a part. */
  readonly variables?: readonly string[];
  /** Members whose mere presence makes a part an image or a video. */
  readonly pictures: readonly string[];
  /** The member that shows what kind of file a part is. */
  readonly fileMember: 'file_data' | 'media_type';
  /** The parts that are files, by type. */
  readonly files: Readonly<Record<string, ReadFile>>;
}

/** What to look for in the content of a body, all in one pass. */
export interface ContentSearch {
  /** Whether to stop at the first image or video. */
  readonly stopsAtVision: boolean;
  /** Called for each file in a place where the dialect reads one. */
  readonly onFile?: ((file: RequestFile) => void) | undefined;
}

export function searchContentOf({ content, variables = [], files, pictures, fileMember }: ContentPlaces) {
  return {
    /**
     * Returns the path of the image or video that it stopped at, such as `messages[2].content[0]`. Every `type` of an object counts,
     * even a repeated one, so that no parser finds content that this search misses.
     */
    searchContent(body: Json, { stopsAtVision, onFile }: ContentSearch): string | undefined {
      if (!stopsAtVision && !onFile) return undefined;
      const named = new Set<Node>(variables.length > 0 ? keysAt(body, variables) : []);
      const isVision = (key: Node, place: string): boolean => {
        if (named.has(key) || body.kind(key + 1) === 'null') return false;
        const name = body.string(key);
        // Where everything is searched, the caller chooses the names.
        if (content[place] !== 'all' && pictures.includes(name)) return true;
        if (body.kind(key + 1) !== 'string') return false;
        if (name === 'type') return visionTypes.test(body.string(key + 1));
        return name === fileMember && picture.test(body.string(key + 1));
      };
      const fileAt = (part: Node): RequestFile | undefined => {
        const type = stringMember(body, part, 'type');
        return type !== undefined && Object.hasOwn(files, type) ? files[type]?.(body, part) : undefined;
      };
      const found = searchIn(body, content, (node, place) => {
        if (body.isKey(node)) return stopsAtVision && isVision(node, place);
        const file = onFile && fileAt(node);
        if (file !== undefined) onFile?.(file);
        return false;
      });
      return found === undefined ? undefined : pathTo(body, found);
    },
  };
}

const visionTypes = /^((input_)?image|(input_)?video|(image|video)_url|computer_screenshot)$/;
/** `image/png`, `data:video/mp4;base64,…`. */
const picture = /^(data:)?(image|video)\//i;

/** The path of a value, such as `messages[2].content[0]`; for a key, the path of its object. */
export function pathTo(body: Json, target: Node): string {
  let path = '';
  for (let node = body.root; ; ) {
    const isObject = body.kind(node) === 'object';
    const end = body.next(node);
    let child = node + 1;
    let index = 0;
    // No generators, as there may be a million members or elements before the target.
    for (let next = child; child < end; child = next) {
      next = body.next(isObject ? child + 1 : child);
      if (target < next) break;
      index += 1;
    }
    const inside: Node = isObject ? child + 1 : child;
    if (child >= end || target < inside) break;
    path += isObject ? `${path && '.'}${body.string(child)}` : `[${index}]`;
    node = inside;
  }
  return path;
}

/** Reads an image at a path, or a string on the way: some upstreams accept `"image_url": "…"` for `"image_url": {"url": "…"}`. */
export const imageAt =
  (...path: readonly string[]): ReadFile =>
  (body, part) => ({ isImage: true, data: stringAt(body, part, path) });

/** The same for any other file. */
export const fileAt =
  (...path: readonly string[]): ReadFile =>
  (body, part) => ({ isImage: false, data: stringAt(body, part, path) });

function keysAt(body: Json, path: readonly string[]): Iterable<Node> {
  let node: Node | undefined = body.root;
  for (const name of path) node = body.member(node, name);
  return node === undefined ? [] : body.keys(node);
}

function stringAt(body: Json, part: Node, path: readonly string[]): Node | undefined {
  let node: Node | undefined = part;
  for (const name of path) {
    node = body.member(node, name);
    if (node === undefined || body.kind(node) === 'string') return node;
  }
  return undefined;
}
