import { isIP } from 'node:net';
import type { Access, Upstream } from '../settings/upstreams.ts';

/** The names that no answer may contain: the upstreams' model ids and host names, and those that the operator adds. */
export function hiddenNames(upstreams: readonly Upstream[], operatorNames: readonly string[]): string[] {
  const names = new Set(operatorNames);
  for (const { models, addresses, translation } of upstreams) {
    for (const { text, vision } of Object.values(models)) names.add(text).add(vision);
    for (const url of [...Object.values(addresses), ...(translation.tokenizeUrl ? [translation.tokenizeUrl] : [])]) {
      const { hostname } = new URL(url);
      if (isDnsName(hostname)) names.add(hostname);
    }
  }
  return [...names];
}

/** Shorter ones are words such as `none` for upstreams that ask for no key, and may occur in any text. */
const shortestSecret = 16;
/** What is longer is worth nothing without its beginning. */
const longestSecret = 128;

/**
 * Reads what hides these names, and the keys and secret headers that upstreams are sent now. It is created anew only when those
 * change.
 */
export function createReadScrubber<Scrubber>(
  { upstreams, names }: { readonly upstreams: readonly Upstream[]; readonly names: readonly string[] },
  readAccess: (upstream: Upstream) => Promise<Access>,
  create: (hidden: readonly string[]) => Scrubber,
): () => Promise<Scrubber> {
  let made: { readonly secrets: string; readonly scrubber: Scrubber } | undefined;
  return async () => {
    const accesses = await Promise.all(upstreams.map(readAccess));
    const sent = accesses.flatMap(({ keys, secretHeaders }) => [...keys, ...Object.values(secretHeaders)]);
    // A header may name a scheme before its secret.
    const secrets = sent.flatMap((value) => value.split(' ').filter(({ length }) => length >= shortestSecret));
    const joined = secrets.join(' ');
    if (made?.secrets !== joined) {
      const hidden = [...names, ...secrets.map((secret) => secret.slice(0, longestSecret))];
      made = { secrets: joined, scrubber: create(hidden) };
    }
    return made.scrubber;
  };
}

/** `localhost`, bare machine names and addresses reveal nothing, and occur in many innocent texts. */
function isDnsName(hostname: string): boolean {
  return (
    hostname.includes('.') && isIP(hostname) === 0 && !hostname.startsWith('[') && !hostname.endsWith('.localhost')
  );
}
