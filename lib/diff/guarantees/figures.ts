import { serverSettings, settings } from '../../../lambda/settings/settings.ts';
import { type Guarantee, told } from './guarantee.ts';

/** Tuning stays below this: whatever is further away is another decision, or a slip of the keyboard. */
const far = 10;

type Keeps = NonNullable<Guarantee['keeps']>;
type Rule = (before: number, after: number) => boolean;

/** Whether a figure keeps to a rule. One that is missing before or afterwards, without a fallback, has nothing to keep to. */
const obeys =
  (rule: Rule) =>
  (fallback?: unknown): Keeps =>
  (before = fallback, after = fallback) =>
    before === undefined || after === undefined || rule(Number(before), Number(after));

export const risesLittle = obeys((before, after) => after <= before || after < far * before);
const fallsLittle = obeys((before, after) => after >= before || after > before / far);

export const hasRisen = (name: string) => `${name} is ten times as high, or more`;
const hasFallen = (name: string) => `${name} is a tenth of what it was, or less`;

/** Guarantees about figures that are tuned: settings by their names, and properties of resources. */
const tuned = (keeps: ReturnType<typeof obeys>, otherwise: (name: string) => string) => ({
  settings: (names: readonly string[]): Guarantee[] =>
    names.flatMap((name) => told(name, { keeps: keeps(fallbackOf(name)), otherwise: otherwise(name) })),
  property: (of: Guarantee['of'], at: string): Guarantee => ({
    ...{ of, at, keeps: keeps() },
    otherwise: otherwise(`its ${lastOf(at)}`),
  }),
});

export const rising = tuned(risesLittle, hasRisen);
export const falling = tuned(fallsLittle, hasFallen);

function lastOf(place: string): string {
  return place.split('.').at(-1) ?? '';
}

function fallbackOf(name: string): string | undefined {
  const all: Readonly<Record<string, { readonly fallback?: string }>> = { ...settings, ...serverSettings };
  return all[name]?.fallback;
}
