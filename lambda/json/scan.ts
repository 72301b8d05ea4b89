import {
  beginTape,
  escapedFlag,
  keyFlag,
  lengthShift,
  longestShort,
  startShift,
  type Tape,
  width,
  writeTape,
} from './tape.ts';
import { JsonFault, trySkipString } from './tokens.ts';
import { takeTurn } from './turns.ts';

/** The number of a value or key in a scanned text, in the order in which they start; 0 is the root value. */
export type Node = number;

export type Kind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null';

/**
 * A validated JSON text and the position of each value and key in it. The nodes inside a container are numbered between its own number
 * and `next(container)`; in an object, the value of `key` is `key + 1`. Hot paths walk by number and allocate nothing:
 *
 *     for (let element = array + 1; element < json.next(array); element = json.next(element))
 *     for (let key = object + 1; key < json.next(object); key = json.next(key + 1))
 *     for (let node = 0; node < json.size; node++)   // every value and key at any depth
 */
export interface Json extends Readonly<View>, Accessors {}

type Accessors = typeof accessors;

export type Scanner = ReturnType<typeof createScanner>;

/** About a millisecond of work, or a few if values are short. */
const charactersPerTurn = 262_144;

const firstNodes = 64;
const firstSpans = 16 * width;
const keptCells = 65_536;

/** A scanner reuses one tape and one view of it: a Json is valid only until its scanner's next scan. */
export function createScanner() {
  const tape: Tape = { nodes: shortTape(firstNodes), size: 0, spans: shortTape(firstSpans), spanned: 0 };
  const view = { __proto__: accessors, root: 0, text: '', size: 0, tape } as unknown as View & Accessors;
  const begin = (text: string) => {
    // Don't retain the memory of one huge text for ever.
    if (tape.nodes.length > keptCells) tape.nodes = shortTape(firstNodes);
    if (tape.spans.length > keptCells) tape.spans = shortTape(firstSpans);
    tape.size = 0;
    tape.spanned = 0;
    return beginTape(text);
  };
  const show = (text: string): Json => {
    view.text = text;
    view.size = tape.size;
    return view;
  };
  return {
    /** Throws a JsonFault where `JSON.parse` would throw, and a JsonLimit for too deep nesting or too many values. */
    scan(text: string): Json {
      writeTape(text, tape, begin(text), text.length + 1); // past the end, so that it runs to completion
      return show(text);
    },
    /** The same, yielding to the event loop between turns. Undefined as soon as there are more than `most` values and keys. */
    async scanInTurns(text: string, most: number): Promise<Json | undefined> {
      const progress = begin(text);
      let until = charactersPerTurn;
      for (; !writeTape(text, tape, progress, until) && tape.size <= most; until += charactersPerTurn) await takeTurn();
      return tape.size <= most ? show(text) : undefined;
    },
  };
}

/** Taken from Node's Buffer pool, which suffices for most texts. A separate allocation would cost more than a short scan. */
function shortTape(cells: number): Int32Array<ArrayBuffer> {
  const { buffer, byteOffset } = Buffer.allocUnsafe(cells * Int32Array.BYTES_PER_ELEMENT);
  return new Int32Array(buffer, byteOffset, cells);
}

interface View {
  text: string;
  root: Node;
  size: number;
  readonly tape: Tape;
}

/** Shared by all scanners through the prototype: V8 would optimize closures separately for each scanner. */
const accessors = {
  kind(this: Json, node: Node): Kind {
    return kindByFirst(this.text.charCodeAt(this.start(node)));
  },
  isKey(this: View, node: Node): boolean {
    return (cellOf(this, node) & keyFlag) !== 0;
  },
  /** Whether a string or key contains escapes. */
  isEscaped(this: View, node: Node): boolean {
    return (cellOf(this, node) & escapedFlag) !== 0;
  },
  start(this: View, node: Node): number {
    const cell = cellOf(this, node);
    return lengthIn(cell) === 0 ? spanOf(this, cell, 0) : cell >>> startShift;
  },
  /** The offset after the last character. */
  end(this: View, node: Node): number {
    const cell = cellOf(this, node);
    const length = lengthIn(cell);
    return length === 0 ? spanOf(this, cell, 1) : (cell >>> startShift) + length;
  },
  raw(this: Json, node: Node): string {
    return this.text.slice(this.start(node), this.end(node));
  },
  /** The node after this one and everything inside it. */
  next(this: View, node: Node): Node {
    const cell = cellOf(this, node);
    return lengthIn(cell) === 0 ? spanOf(this, cell, 2) : node + 1;
  },
  /** The decoded value of a string or key. Parsed on its own, because V8 decodes some keys in objects wrongly (nodejs/node#63785). */
  string(this: Json, node: Node): string {
    return this.isEscaped(node)
      ? JSON.parse(this.raw(node))
      : this.text.slice(this.start(node) + 1, this.end(node) - 1);
  },
  /** The value of the last member with this decoded key; undefined if there is none, or the node is not an object. */
  member(this: Json, object: Node | undefined, name: string): Node | undefined {
    let value: Node | undefined;
    if (object === undefined || this.kind(object) !== 'object') return value;
    const end = this.next(object);
    for (let key = object + 1; key < end; key = this.next(key + 1)) {
      if (isNamed(this, key, name)) value = key + 1;
    }
    return value;
  },
  /** The keys of an object, in order; none if the node is not an object. */
  *keys(this: Json, object: Node): Generator<Node, void> {
    if (this.kind(object) !== 'object') return;
    for (let key = object + 1; key < this.next(object); key = this.next(key + 1)) yield key;
  },
  /** The elements of an array, in order; none if the node is not an array. */
  *elements(this: Json, array: Node): Generator<Node, void> {
    if (this.kind(array) !== 'array') return;
    for (let element = array + 1; element < this.next(array); element = this.next(element)) yield element;
  },
};

function cellOf({ tape }: View, node: Node): number {
  return tape.nodes[node] ?? 0;
}

function lengthIn(cell: number): number {
  return (cell >>> lengthShift) & longestShort;
}

function spanOf({ tape }: View, cell: number, part: number): number {
  return tape.spans[(cell >>> startShift) * width + part] ?? 0;
}

function isNamed(view: Json, key: Node, name: string): boolean {
  const cell = cellOf(view, key);
  const isEscaped = (cell & escapedFlag) !== 0;
  // Rules out most keys, which are short.
  if (!isEscaped && lengthIn(cell) !== 0 && lengthIn(cell) !== name.length + 2) return false;
  const start = view.start(key) + 1;
  const length = view.end(key) - 1 - start;
  if (!isEscaped) return length === name.length && view.text.startsWith(name, start);
  // An escape spells one character with two or six.
  return length > name.length && length <= name.length * 6 && view.string(key) === name;
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

/** Each replacement takes more memory than its text. */
const mostReplaced = 100_000;

const numberOrQuote = /-?(?:NaN|Infinity)|"/g;

/** Scans a text in which `NaN` and `Infinity`, as Python prints them, become null. */
export function scanLeniently(scanner: Scanner, text: string): Json {
  try {
    return scanner.scan(text);
  } catch (fault) {
    return scanner.scan(readable(text, fault));
  }
}

/** The same, with `scanInTurns`. */
export async function scanLenientlyInTurns(scanner: Scanner, text: string, most: number): Promise<Json | undefined> {
  try {
    return await scanner.scanInTurns(text, most);
  } catch (fault) {
    return scanner.scanInTurns(readable(text, fault), most);
  }
}

function readable(text: string, fault: unknown): string {
  const plain = fault instanceof JsonFault ? replaceUnknownNumbers(text) : text;
  if (plain === text) throw fault;
  return plain;
}

function replaceUnknownNumbers(text: string): string {
  let plain = '';
  let copied = 0;
  let replaced = 0;
  numberOrQuote.lastIndex = 0;
  for (let match = numberOrQuote.exec(text); match; match = numberOrQuote.exec(text)) {
    if (match[0] === '"') {
      const end = trySkipString(text, match.index);
      if (end < 0) return text; // the text ends within a string
      numberOrQuote.lastIndex = end >> 2;
    } else {
      replaced += 1;
      if (replaced > mostReplaced) return text;
      plain += `${text.slice(copied, match.index)}null`;
      copied = numberOrQuote.lastIndex;
    }
  }
  return plain + text.slice(copied);
}
