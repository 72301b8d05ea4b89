import type { Node } from '../../json/scan.ts';

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
