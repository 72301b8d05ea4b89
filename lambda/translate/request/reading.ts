import { stringMember } from '../../dialects/answer.ts';
import { describe } from '../../dialects/body.ts';
import { pathTo } from '../../dialects/content.ts';
import { excerpt, GatewayError, longestPath } from '../../errors.ts';
import { type Cooperative, charactersPerSlice, nodesPerTurn } from '../../json/cooperative.ts';
import type { Json, Kind, Node } from '../../json/scan.ts';
import { quote, type Raw } from './asking.ts';

/** One request while it is read. */
export interface Reading {
  readonly json: Json;
  /** Opens what was sealed for this caller; undefined for anything else. */
  readonly open: (text: string) => string | undefined;
  readonly leftOut: Node[];
  readonly unread: Node[];
  /** The names of tools that a client's own search has found, in the order in which it did. */
  readonly found: Set<string>;
  /** Where the reading paused last, so that others got their turn. */
  pausedAt: Node;
  /** What has been opened since, in characters: that takes far longer than reading. */
  opened: number;
}

/** What a seal costs besides its characters. */
const costOfSeal = 4_096;

export function beginReading(json: Json, open: Reading['open']): Reading {
  const reading: Reading = {
    ...{ json, leftOut: [], unread: [], found: new Set(), pausedAt: 0, opened: 0 },
    open(text) {
      reading.opened += text.length + costOfSeal;
      return open(text);
    },
  };
  return reading;
}

/** Whether so much was read since the last pause that one is due here. Members are not read in the order of the body. */
export function isPauseDue(reading: Reading, at: Node): boolean {
  if (Math.abs(at - reading.pausedAt) < nodesPerTurn && reading.opened < charactersPerSlice) return false;
  reading.pausedAt = at;
  reading.opened = 0;
  return true;
}

/** A refusal of the request that names a place in it: `what` goes on after the place. */
export function refuse({ json }: Pick<Reading, 'json'>, at: Node, what: string): never {
  throw new GatewayError('invalid_request', `${excerpt(pathTo(json, at), longestPath) || 'The body'} ${what}`);
}

export function requireKind(reading: Reading, value: Node, ...kinds: readonly Kind[]): void {
  const kind = reading.json.kind(value);
  if (kinds.includes(kind)) return;
  refuse(reading, value, `must be ${kinds.map(describe).join(' or ')}, not ${describe(kind)}.`);
}

/** What was sealed here says what the model thought; else what was shown of it. */
export function readThought({ open }: Reading, seal: string | undefined, shown: Raw | undefined): Raw | undefined {
  const opened = seal === undefined ? undefined : open(seal);
  return opened === undefined ? shown : quote(opened);
}

export const toText = (text: Raw) => ({ kind: 'text', text }) as const;

/** Reads the elements of a list, except those that nothing comes of. */
export function* readList<T>(reading: Reading, list: Node, read: (element: Node) => T | undefined): Cooperative<T[]> {
  requireKind(reading, list, 'array');
  const all: T[] = [];
  for (const element of reading.json.elements(list)) {
    const one = read(element);
    if (one !== undefined) all.push(one);
    if (isPauseDue(reading, element)) yield;
  }
  return all;
}

/** Reads the parts of a content. A text is its own only part. */
export function* readContent<T>(
  reading: Reading,
  content: Node,
  ofText: (text: string) => T,
  ofPart: (part: Node) => T | undefined,
): Cooperative<T[]> {
  requireKind(reading, content, 'string', 'array');
  if (reading.json.kind(content) === 'string') return [ofText(reading.json.raw(content))];
  return yield* readList(reading, content, ofPart);
}

/** The type of an item, part or tool. */
export function typeOf(reading: Reading, object: Node): string {
  requireKind(reading, object, 'object');
  return stringMember(reading.json, object, 'type') ?? '';
}

const longestType = 60;

/** Refuses something of a type: `what` goes on after the place and the type. */
export function refuseType(reading: Reading, object: Node, what: string): never {
  const type = typeOf(reading, object);
  refuse(reading, object, type === '' ? `(without a type) ${what}` : `(${excerpt(type, longestType)}) ${what}`);
}

/** Types that are refused, with the end of the sentence. */
export type RefusedTypes = readonly (readonly [types: RegExp, what: string])[];

/** Refuses something of a type that is not translated. */
export function refuseByType(reading: Reading, object: Node, refused: RefusedTypes): never {
  const type = typeOf(reading, object);
  const [, what] = refused.find(([types]) => types.test(type)) ?? [];
  return what === undefined ? refuseUnknown(reading, object) : refuseType(reading, object, what);
}

/** Refuses something whose type nobody here knows: it carries content or a promise. */
export function refuseUnknown(reading: Reading, object: Node, remedy = 'Leave it out.'): never {
  refuseType(reading, object, `is of a kind that this model can't take. ${remedy}`);
}
