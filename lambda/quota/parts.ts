/** An item that holds a share of what is counted for all callers together. */
export interface Part {
  readonly index: number;
  readonly item: string;
}

/**
 * How many items a day's count is spread over, so that none becomes hot: each takes a thousand writes a second. See
 * docs/hosting.md.
 */
export const mostParts = 8;

/** The items of a day in a circle, every time from the next one, so that they fill evenly. Each process begins elsewhere. */
export function createParts(name: string, count: number, now: () => number) {
  let start = now();
  return (day: number): Part[] => {
    start += 1;
    return Array.from({ length: count }, (_, position) => {
      const index = (start + position) % count;
      return { index, item: `${name}#${day}#${index}` };
    });
  };
}
