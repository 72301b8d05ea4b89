import { escapedFlag, keyFlag, type Tape, width, writeTape } from './tape.ts';

/** A value or key of a scanned text, by its place in the order in which they start; 0 is the root value. */
export type Node = number;

export type Kind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null';

/**
 * A checked JSON text and where each value and key stands in it. Every node but the root has a place between its
 * container's own number and `next(container)`; in an object keys and values alternate, so that the value of `key` is
 * `key + 1`. Hot paths walk by number and allocate nothing:
 *
 *     for (let element = array + 1; element < json.next(array); element = json.next(element))
 *     for (let key = object + 1; key < json.next(object); key = json.next(key + 1))
 *     for (let node = 0; node < json.size; node++)   // every value and key at any depth
 */
export interface Json {
  readonly text: string;
  readonly root: Node;
  /** The number of nodes. */
  readonly size: number;
  kind(node: Node): Kind;
  isKey(node: Node): boolean;
  start(node: Node): number;
  /** The offset after the last character. */
  end(node: Node): number;
  /** The text of a node as it stands. */
  raw(node: Node): string;
  /** The node after this one and all inside it. */
  next(node: Node): Node;
  /** Whether a string or key contains a backslash. */
  hasEscape(node: Node): boolean;
  /** The decoded value of a string or key. */
  string(node: Node): string;
  /** The value of the last member with this decoded key; undefined where there is none or the node is no object. */
  member(object: Node, name: string): Node | undefined;
  /** The keys of an object in their order; none where the node is no object. */
  keys(object: Node): Iterable<Node>;
  /** The elements of an array in their order; none where the node is no array. */
  elements(array: Node): Iterable<Node>;
}

export interface Scanner {
  /** Throws a JsonFault where `JSON.parse` would throw, and where a text is nested too deep. */
  scan(text: string): Json;
}

const firstCells = 64 * width;
const keptCells = 65_536 * width;

/** A scanner owns one tape and one view of it: a Json is valid until its scanner's next scan. */
export function createScanner(): Scanner {
  const tape: Tape = { cells: new Int32Array(firstCells), size: 0 };
  let text = '';

  const cell = (index: number) => tape.cells[index] ?? 0;
  const start = (node: Node) => cell(node * width);
  const end = (node: Node) => cell(node * width + 1) >>> 2;
  const next = (node: Node) => cell(node * width + 2);
  const hasEscape = (node: Node) => (cell(node * width + 1) & escapedFlag) !== 0;
  const kind = (node: Node) => kindByFirst(text.charCodeAt(start(node)));

  // A string by itself, as V8 decodes some keys wrongly where they stand in an object (nodejs/node#63785).
  const string = (node: Node): string =>
    hasEscape(node) ? JSON.parse(text.slice(start(node), end(node))) : text.slice(start(node) + 1, end(node) - 1);

  const isNamed = (key: Node, name: string): boolean => {
    const length = end(key) - start(key) - 2;
    if (!hasEscape(key)) return length === name.length && text.startsWith(name, start(key) + 1);
    // An escape takes two or six characters for one.
    return length > name.length && length <= name.length * 6 && string(key) === name;
  };

  const json: Json = {
    get text() {
      return text;
    },
    root: 0,
    get size() {
      return tape.size;
    },
    kind,
    isKey: (node) => (cell(node * width + 1) & keyFlag) !== 0,
    start,
    end,
    raw: (node) => text.slice(start(node), end(node)),
    next,
    hasEscape,
    string,
    member(object, name) {
      let value: Node | undefined;
      if (kind(object) !== 'object') return value;
      for (let key = object + 1; key < next(object); key = next(key + 1)) {
        if (isNamed(key, name)) value = key + 1;
      }
      return value;
    },
    *keys(object) {
      if (kind(object) !== 'object') return;
      for (let key = object + 1; key < next(object); key = next(key + 1)) yield key;
    },
    *elements(array) {
      if (kind(array) !== 'array') return;
      for (let element = array + 1; element < next(array); element = next(element)) yield element;
    },
  };

  return {
    scan(given) {
      // One monstrous text must not hold its memory for ever.
      if (tape.cells.length > keptCells) tape.cells = new Int32Array(firstCells);
      tape.size = 0;
      text = given;
      writeTape(given, tape);
      return json;
    },
  };
}

function kindByFirst(code: number): Kind {
  switch (code) {
    case 0x7b: // {
      return 'object';
    case 0x5b: // [
      return 'array';
    case 0x22: // "
      return 'string';
    case 0x74: // t
    case 0x66: // f
      return 'boolean';
    case 0x6e: // n
      return 'null';
    default:
      return 'number';
  }
}
