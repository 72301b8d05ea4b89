export const dollars = (value: number): string =>
  `$${value.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: value < 0.1 ? 4 : 2 })}`;
export const round = (value: number, digits = 0): string =>
  value.toLocaleString('en-US', { maximumFractionDigits: digits });
export const significant = (value: number): string => round(Number(value.toPrecision(2)));
export const length = (seconds: number): string => (seconds < 60 ? `${seconds} s` : `${seconds / 60} min`);

export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(headings), line(headings.map((_, index) => (index === 0 ? '---' : '--:'))), ...rows.map(line)].join(
    '\n',
  );
}
