/** A random address that nobody has (RFC 5737), so that runs don't share a counter. */
export const inventAddress = (random: () => number): string => `198.51.100.${1 + Math.floor(random() * 254)}`;

/** Ways to claim another address. Only what the platform appends after them may be believed. */
export function forgeries(
  address: string,
): Readonly<Record<string, Readonly<Record<string, string | readonly string[]>>>> {
  return {
    'one X-Forwarded-For': { 'x-forwarded-for': address },
    'a list of them': { 'x-forwarded-for': `203.0.113.9, ${address}` },
    'a list with a comma at its end': { 'x-forwarded-for': `${address},` },
    'two lines of it': { 'x-forwarded-for': [address, address] },
    'other headers': { 'x-real-ip': address, forwarded: `for=${address}`, 'true-client-ip': address },
  };
}
