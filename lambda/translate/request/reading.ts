import { stringMember } from '../../dialects/answer.ts';
import { describe, pathTo } from '../../dialects/body.ts';
import { excerpt, GatewayError, longestPath } from '../../errors.ts';
import { type Cooperative, charactersPerSlice, nodesPerTurn } from '../../json/cooperative.ts';
import type { Json, Kind, Node } from '../../json/scan.ts';
import { createToolTable } from '../tools.ts';
import type { Fields, Members } from './members.ts';
import { type TextPart, toText } from './parts.ts';

/** What a seal costs besides its characters. */
const costOfSeal = 4_096;
/** In characters, of a tool's name in chat. */
const longestName = 64;
/** In characters, of what is quoted in a refusal. */
const longestType = 60;

const unknown = "is of a kind that this model can't take.";

/** Types that are refused, with the end of the sentence. */
export type RefusedTypes = readonly (readonly [types: RegExp, what: string])[];

export type Reading = ReturnType<typeof beginReading>;

/** One request while it is read. `openSeal` opens what was sealed for this caller; undefined for anything else. */
export function beginReading(json: Json, openSeal: (text: string) => string | undefined) {
  const leftOut: Node[] = [];
  const unread: Node[] = [];
  let pausedAt: Node = 0; // where others got their turn last
  let opened = 0; // since then, in characters: that takes far longer than reading

  const reading = {
    json,
    /** Offers and records that chat has no place for. */
    leftOut,
    /** Members that the gateway does not know. */
    unread,
    /** What the tools are called upstream. */
    names: createToolTable(longestName),
    /** The names of tools that a client's own search has found, in the order in which it did. */
    found: new Set<string>(),
    open(seal: string): string | undefined {
      opened += seal.length + costOfSeal;
      return openSeal(seal);
    },
    /** Whether so much was read since the last pause that one is due here. Members are not read in the order of the body. */
    isPauseDue(at: Node): boolean {
      if (Math.abs(at - pausedAt) < nodesPerTurn && opened < charactersPerSlice) return false;
      pausedAt = at;
      opened = 0;
      return true;
    },
    /** A refusal of the request that names a place in it: `what` goes on after the place. */
    refuse(at: Node, what: string): never {
      throw new GatewayError('invalid_request', `${excerpt(pathTo(json, at), longestPath) || 'The body'} ${what}`);
    },
    /** Refuses something of a type: `what` goes on after the place and the type. */
    refuseType(object: Node, what: string): never {
      const type = reading.typeOf(object);
      return reading.refuse(object, `(${type === '' ? 'without a type' : excerpt(type, longestType)}) ${what}`);
    },
    /** Refuses something of a type that is not translated. What nobody here knows carries content or a promise. */
    refuseUnknown(object: Node, refused: RefusedTypes = []): never {
      const type = reading.typeOf(object);
      const [, what = `${unknown} Leave it out.`] = refused.find(([types]) => types.test(type)) ?? [];
      return reading.refuseType(object, what);
    },
    /** The same of what stands among texts. */
    refusePart: (part: Node): never => reading.refuseType(part, `${unknown} Send text instead.`),
    requireKind(value: Node, ...kinds: readonly Kind[]): void {
      const kind = json.kind(value);
      if (kinds.includes(kind)) return;
      reading.refuse(value, `must be ${kinds.map(describe).join(' or ')}, not ${describe(kind)}.`);
    },
    /** What a string spells. */
    textOf(value: Node): string {
      reading.requireKind(value, 'string');
      return json.string(value);
    },
    /** The type of an item, part or tool. */
    typeOf(object: Node): string {
      reading.requireKind(object, 'object');
      return stringMember(json, object, 'type') ?? '';
    },
    /** Reads the elements of a list, except those that nothing comes of. */
    *readList<T>(list: Node, read: (element: Node) => T | undefined): Cooperative<T[]> {
      reading.requireKind(list, 'array');
      const all: T[] = [];
      for (const element of json.elements(list)) {
        const one = read(element);
        if (one !== undefined) all.push(one);
        if (reading.isPauseDue(element)) yield;
      }
      return all;
    },
    /** Reads the parts of a content. A text is its own only part. */
    *readContent<P>(content: Node, ofPart: (part: Node) => P | undefined): Cooperative<(P | TextPart)[]> {
      reading.requireKind(content, 'string', 'array');
      if (json.kind(content) === 'string') return [toText(json.raw(content))];
      return yield* reading.readList(content, ofPart);
    },
    /** Takes an object apart. What is not translated is refused, ignored or noted as unread; null counts as absent. */
    take<const F extends Fields>(object: Node, fields: F): Members<keyof F & string> {
      reading.requireKind(object, 'object');
      const nodes: Record<string, Node> = {};
      for (const key of json.keys(object)) {
        const value = key + 1;
        const name = json.string(key);
        const fate = Object.hasOwn(fields, name) ? fields[name] : undefined;
        if (fate === 'ignore') continue;
        // The last of repeated members counts, even if it is null.
        if (fate === 'map') delete nodes[name];
        if (json.kind(value) === 'null') continue;
        if (fate === undefined) unread.push(value);
        else if (fate === 'leave') leftOut.push(value);
        else if (fate === 'map') nodes[name] = value;
        else reading.refuse(value, `is not supported with this model: ${fate}`);
      }
      return membersOf(reading, object, nodes);
    },
  };
  return reading;
}

function membersOf<Name extends string>(
  { json, requireKind, textOf, refuse }: Pick<Reading, 'json' | 'requireKind' | 'textOf' | 'refuse'>,
  object: Node,
  nodes: { readonly [Member in Name]?: Node },
): Members<Name> {
  const stringOf = (value: Node): string => {
    requireKind(value, 'string');
    return json.raw(value);
  };
  const required = (name: Name): Node => nodes[name] ?? refuse(object, `has no ${name}. Add it.`);
  const ifThere =
    <T>(read: (value: Node) => T) =>
    (name: Name): T | undefined => {
      const value = nodes[name];
      return value === undefined ? undefined : read(value);
    };
  const raw = ifThere((value) => json.raw(value));
  return {
    nodes,
    required,
    raw,
    raws: (...names) => Object.fromEntries(names.map((name) => [name, raw(name)])),
    string: ifThere(stringOf),
    requiredString: (name) => stringOf(required(name)),
    text: ifThere(textOf),
    requiredText: (name) => textOf(required(name)),
  };
}
