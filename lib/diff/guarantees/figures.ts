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

/** Guarantees that settings rise or fall by little. */
export const rising = (names: readonly string[]): Guarantee[] =>
  names.flatMap((name) => told(name, { keeps: risesLittle(fallbackOf(name)), otherwise: hasRisen(name) }));
export const falling = (names: readonly string[]): Guarantee[] =>
  names.flatMap((name) => told(name, { keeps: fallsLittle(fallbackOf(name)), otherwise: hasFallen(name) }));

/** The same about a property of resources. */
export const risingAt = (of: Guarantee['of'], at: string): Guarantee => ({
  of,
  at,
  keeps: risesLittle(),
  otherwise: hasRisen(`its ${lastOf(at)}`),
});
export const fallingAt = (of: Guarantee['of'], at: string): Guarantee => ({
  of,
  at,
  keeps: fallsLittle(),
  otherwise: hasFallen(`its ${lastOf(at)}`),
});

function lastOf(place: string): string {
  return place.split('.').at(-1) ?? '';
}

function fallbackOf(name: string): string | undefined {
  const all: Readonly<Record<string, { readonly fallback?: string }>> = { ...settings, ...serverSettings };
  return all[name]?.fallback;
}
