/** Amounts are whole millionths of the operator's currency ("micros"), so that no sum of them is ever rounded. */
const places = 6;
const unit = 10 ** places;

/** Far below what a number holds exactly, so that the sum of many amounts is exact too. */
const largestAmount = 1_000_000_000;

/** A decimal such as `0.5` in micros; undefined for any other text, and for more than six places. */
export function readMicros(text: string): number | undefined {
  const [, whole, fraction = ''] = /^(0|[1-9]\d{0,9})(?:\.(\d{1,6}))?$/.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const micros = Number(whole) * unit + Number(fraction.padEnd(places, '0'));
  return micros <= largestAmount * unit ? micros : undefined;
}

/** The same for an amount to spend, which is more than 0. */
export function readAmount(text: string): number | undefined {
  return readMicros(text) || undefined;
}

/** What `readAmount` accepts, for error messages. */
export const amountExpected = `an amount above 0 and up to ${largestAmount}, with at most six places, such as 20 or 0.5`;

/** Micros as a decimal with two to six places: `0.90`, `0.000001`. */
export function formatAmount(micros: number): string {
  const size = Math.abs(micros);
  const fraction = String(size % unit)
    .padStart(places, '0')
    .replace(/0{1,4}$/, '');
  return `${micros < 0 ? '-' : ''}${Math.floor(size / unit)}.${fraction}`;
}
