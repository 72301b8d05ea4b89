/** Amounts are integers: millionths of the operator's currency ("micros"), so that sums are never rounded. */
const unit = 1_000_000;

/** Far below the largest safe integer, so that the sum of many amounts is exact too. */
const largestAmount = 1_000_000_000;

/** For error messages: what `readAmount` accepts. */
export const amountExpected = `an amount above 0 and up to ${largestAmount}, with at most six places, such as 20 or 0.5`;

/** Parses an amount such as `0.5` to micros; undefined for any other text. */
export function readAmount(text: string): number | undefined {
  return /^(0|[1-9]\d*)(\.\d{1,6})?$/.test(text) ? microsOf(Number(text)) || undefined : undefined;
}

/** Converts a decimal to micros; undefined if it has more than six places, is negative or too large. */
export function microsOf(decimal: number): number | undefined {
  const micros = Math.round(decimal * unit);
  // With up to six places, both sides are the double nearest to the decimal.
  return micros / unit === decimal && decimal >= 0 && decimal <= largestAmount ? micros : undefined;
}

/** Formats micros as a decimal with two to six places: `0.90`, `0.000001`. */
export function formatAmount(micros: number): string {
  const size = Math.abs(micros);
  const fraction = String(size % unit)
    .padStart(6, '0')
    .replace(/0{1,4}$/, '');
  return `${micros < 0 ? '-' : ''}${Math.floor(size / unit)}.${fraction}`;
}
