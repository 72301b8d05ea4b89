import type { Node } from '../../../json/scan.ts';
import { refuse, requireKind } from './refuse-item.ts';
import type { RequestReader } from './request-reader.ts';
import { type Read, raw } from './values.ts';

interface Needed<T> {
  readonly needed: Read<T>;
}

/**
 * What becomes of each member of an object: how to read it if it is translated, `ignore` (it can't change the answer), `leave` (left out,
 * as no other dialect has a place for it), or the end of the message that refuses it.
 */
export type Fields = Readonly<Record<string, string | Read<unknown> | Needed<unknown>>>;

const allAre =
  <Fate>(fate: Fate) =>
  <Name extends string>(...names: readonly Name[]) =>
    Object.fromEntries(names.map((name) => [name, fate])) as Readonly<Record<Name, Fate>>;

export const ignore = allAre('ignore');
/** A required member. */
export const needed = <T>(read: Read<T>): Needed<T> => ({ needed: read });

export const raws = allAre(raw);

/** The values of the translated members. */
type Members<F> = {
  readonly [Name in keyof F as F[Name] extends string ? never : Name]: F[Name] extends Needed<infer T>
    ? T
    : F[Name] extends Read<infer T>
      ? T | undefined
      : never;
};

/** Reads a nested object. */
export const object =
  <const F extends Fields>(fields: F): Read<Members<F>> =>
  (reader, value) =>
    takeMembers(reader, value, fields);

/** Reads the members of an object. Others are refused, ignored, left out or recorded as unknown. Null counts as absent. */
export function takeMembers<const F extends Fields>(reader: RequestReader, object: Node, fields: F): Members<F> {
  const { json, leftOut, unknown } = reader;
  requireKind(reader, object, 'object');
  const values = new Map<string, Node>();
  const end = json.next(object);
  for (let key = object + 1; key < end; key = json.next(key + 1)) {
    const value = key + 1;
    const name = json.string(key);
    const fate = Object.hasOwn(fields, name) ? fields[name] : undefined;
    // The last of repeated members counts, even if null.
    if (typeof fate !== 'string') values.delete(name);
    if (fate === 'ignore' || json.kind(value) === 'null') continue;
    if (fate === undefined) unknown.push(value);
    else if (fate === 'leave') leftOut.push(value);
    else if (typeof fate === 'string') refuse(reader, value, `is not supported with this model: ${fate}`);
    else values.set(name, value);
  }
  const members: Record<string, unknown> = {};
  for (const [name, fate] of Object.entries<Fields[string]>(fields)) {
    if (typeof fate === 'string') continue;
    const value = values.get(name);
    if (typeof fate === 'object') {
      members[name] = fate.needed(reader, value ?? refuse(reader, object, `has no ${name}. Add it.`));
    } else if (value !== undefined) members[name] = fate(reader, value);
  }
  return members as Members<F>;
}
