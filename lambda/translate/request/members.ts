import type { Node } from '../../json/scan.ts';
import { type Reading, refuse, requireKind, stringOf, textOf } from './reading.ts';

/**
 * What becomes of each member of one kind of object: `map` (it is translated), `ignore` (it can't change the answer), `leave`
 * (no other dialect has a place for it), or the end of the sentence that refuses it.
 */
export type Fields = Readonly<Record<string, string>>;

const allAre =
  (fate: string) =>
  <Name extends string>(...names: readonly Name[]) =>
    Object.fromEntries(names.map((name) => [name, fate])) as Readonly<Record<Name, string>>;

export const map = allAre('map');
export const ignore = allAre('ignore');

/** The members of an object that are translated. */
export interface Members<Name extends string> {
  readonly nodes: { readonly [Member in Name]?: Node };
  /** Refuses an object that has none of the name. */
  required(name: Name): Node;
  /** As it is written. */
  raw(name: Name): string | undefined;
  /** Several, as chat has members of the same names. */
  raws(...names: readonly Name[]): Readonly<Record<string, string | undefined>>;
  /** A string as it is written, with its quotes. */
  string(name: Name): string | undefined;
  requiredString(name: Name): string;
  /** What a string spells. */
  text(name: Name): string | undefined;
  requiredText(name: Name): string;
}

/** Takes an object apart. What is not translated is refused, ignored or noted as unread; null counts as absent. */
export function takeMembers<const F extends Fields>(
  reading: Reading,
  object: Node,
  fields: F,
): Members<keyof F & string> {
  const { json, leftOut, unread } = reading;
  requireKind(reading, object, 'object');
  const nodes: Record<string, Node> = {};
  const end = json.next(object);
  for (let key = object + 1; key < end; key = json.next(key + 1)) {
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
    else refuse(reading, value, `is not supported with this model: ${fate}`);
  }
  const required = (name: string) => nodes[name] ?? refuse(reading, object, `has no ${name}. Add it.`);
  const ifThere = <T>(name: string, read: (value: Node) => T): T | undefined => {
    const value = nodes[name];
    return value === undefined ? undefined : read(value);
  };
  const raw = (name: string) => ifThere(name, (value) => json.raw(value));
  return {
    nodes: nodes as Members<keyof F & string>['nodes'],
    required,
    raw,
    raws: (...names) => Object.fromEntries(names.map((name) => [name, raw(name)])),
    string: (name) => ifThere(name, (value) => stringOf(reading, value)),
    requiredString: (name) => stringOf(reading, required(name)),
    text: (name) => ifThere(name, (value) => textOf(reading, value)),
    requiredText: (name) => textOf(reading, required(name)),
  };
}
