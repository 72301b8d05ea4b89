import type { TokenCounts } from './findings.ts';

/** The members of a usage, or of its details, that count each kind of token. The first one present is used. */
type CountedMembers = Readonly<
  Partial<Record<keyof TokenCounts, readonly (readonly [name: string, inner?: string])[]>>
>;

/** Where a dialect counts tokens, and every member of a usage that it defines. */
export interface UsagePlaces {
  readonly counted: CountedMembers;
  readonly members: ReadonlySet<string>;
}

export function usagePlaces(counted: CountedMembers): UsagePlaces {
  const names = Object.values(counted).flatMap((places) => places.map(([name]) => name));
  return { counted, members: new Set(['model', ...names]) };
}
