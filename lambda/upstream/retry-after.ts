/** The seconds that a `Retry-After` header asks for, in either of its two forms; undefined for anything else. */
export function readRetryAfter(header: string | undefined, now: number): string | undefined {
  const value = header?.trim() ?? '';
  const seconds = /^\d+(\.\d+)?$/.test(value) ? Number(value) : secondsUntil(value, now);
  return seconds <= longest ? String(Math.ceil(seconds)) : undefined;
}

/** In seconds. A server that asks for more than a day means something else. */
const longest = 86_400;

function secondsUntil(date: string, now: number): number {
  return / GMT$/.test(date) ? Math.max(0, (Date.parse(date) - now) / 1000) : Number.NaN;
}
