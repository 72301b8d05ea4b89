/** Amounts are whole millionths of the operator's currency ("micros"), so that no sum of them is ever rounded. */
const unit = 1_000_000;

/** Far below what a number holds exactly, so that the sum of many amounts is exact too. */
const largestAmount = 1_000_000_000;

/** What `readAmount` accepts, for error messages. */
export const amountExpected = `an amount above 0 and up to ${largestAmount}, with at most six places, such as 20 or 0.5`;

/** An amount to spend, such as `0.5`, in micros; undefined for any other text. */
export function readAmount(text: string): number | undefined {
  return /^(0|[1-9]\d*)(\.\d{1,6})?$/.test(text) ? microsOf(Number(text)) || undefined : undefined;
}

/** A decimal with at most six places in micros; undefined for one with more, below 0 or too large. */
export function microsOf(decimal: number): number | undefined {
  const micros = Math.round(decimal * unit);
  // Both are the number nearest to the decimal, unless that has more places.
  return micros / unit === decimal && decimal >= 0 && decimal <= largestAmount ? micros : undefined;
}

/** Micros as a decimal with two to six places: `0.90`, `0.000001`. */
export function formatAmount(micros: number): string {
  const size = Math.abs(micros);
  const fraction = String(size % unit)
    .padStart(6, '0')
    .replace(/0{1,4}$/, '');
  return `${micros < 0 ? '-' : ''}${Math.floor(size / unit)}.${fraction}`;
}
