/** A whole number in its plain spelling. */
export function parseWhole(text: string, from: number, to: number): number | undefined {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  return number >= from && number <= to ? number : undefined;
}
