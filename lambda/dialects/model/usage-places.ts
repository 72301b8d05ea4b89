import type { TokenCounts } from './findings.ts';

/** The members of a usage that count each kind of tokens, or those of its details. The first that has a count is taken. */
type CountedMembers = Readonly<
  Partial<Record<keyof TokenCounts, readonly (readonly [name: string, inner?: string])[]>>
>;

/** Where a dialect counts tokens, and all members that it reads of a usage. */
export interface UsagePlaces {
  readonly counted: CountedMembers;
  readonly members: ReadonlySet<string>;
}

export function usagePlaces(counted: CountedMembers): UsagePlaces {
  const names = Object.values(counted).flatMap((places) => places.map(([name]) => name));
  return { counted, members: new Set(['model', ...names]) };
}
