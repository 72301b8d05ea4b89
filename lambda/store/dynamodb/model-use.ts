import { budgetPeriod, budgetWindows } from '../../budget/budget-window.ts';
import { startOfMinute } from '../../budget/time.ts';
import type { ModelUse, UsedTokens } from '../counters.ts';
import type { Item } from './table.ts';

/*
 * A caller's usage by model in a budget period, in the same item as the counters of counters.ts:
 *
 *   tim682   12000     tokens of prompts to the text model (t; v for vision, e for embeddings) in month 682
 *   tom682   300       tokens of its answers
 *   tsm682   40500     what they cost, in millionths
 *
 * Only the current period is kept: the first settlement in the next period removes these attributes.
 */

const letters = { text: 't', vision: 'v', embedding: 'e' } as const;
const kinds = Object.keys(letters) as (keyof typeof letters)[];

const namesOf = (kind: keyof typeof letters, period: string) =>
  (['i', 'o', 's'] as const).map((part) => `${letters[kind]}${part}${period}`) as [string, string, string];

/** The number of the current budget period, by the first letter of its window. */
export function currentPeriod(letter: string, minute: number): number {
  const kind = budgetWindows.find((one) => one.startsWith(letter));
  return kind === undefined ? 0 : Number(budgetPeriod(kind, startOfMinute(minute)).name.slice(1));
}

/** The attributes of an item that belong to past periods. */
export function outdatedUses(found: Item | undefined, minute: number): string[] {
  return Object.keys(found ?? {}).filter((name) => {
    const [, letter, number] = /^[tve][ios]([dwm])(\d+)$/.exec(name) ?? [];
    return letter !== undefined && Number(number) < currentPeriod(letter, minute);
  });
}

/** A number in an item, and what is added to it. */
export interface Sum {
  readonly name: string;
  readonly placeholder: string;
  readonly added: number;
}

/** What a settlement adds to. */
export function sumsOf(period: string, spent: number, { kind, input, output }: UsedTokens): Sum[] {
  const [inputs, outputs, costs] = namesOf(kind, period);
  return [
    { name: inputs, placeholder: ':input', added: input },
    { name: outputs, placeholder: ':output', added: output },
    { name: costs, placeholder: ':spent', added: spent },
  ];
}

/** The usage in a period. `read` unwraps an attribute, whichever client has loaded it. */
export function usesIn<Read>(
  found: Readonly<Record<string, Read>> | undefined,
  period: string | undefined,
  read: (value: Read) => unknown,
): ModelUse[] {
  if (found === undefined || period === undefined) return [];
  return kinds.flatMap((kind) => {
    const [input = 0, output = 0, spent] = namesOf(kind, period).map((name) => {
      const value = found[name];
      return value === undefined ? undefined : Number(read(value));
    });
    return spent === undefined ? [] : { kind, input, output, spent };
  });
}
