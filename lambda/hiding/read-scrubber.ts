import type { Config } from '../settings/config.ts';
import type { Access, ReadAccess, Upstream } from '../settings/read-upstreams.ts';
import { hiddenNames } from './hidden-names.ts';
import { createScrubber, type Scrubber } from './scrub.ts';

/** A lazy cache, until a secret rotates, of the scrubber that hides the upstreams' names, their current keys and secret headers. */
export function createHiding(
  upstreams: readonly Upstream[],
  { upstreamNames }: Config['hiding'],
  serviceName: string,
  readAccess: ReadAccess,
): () => Promise<Scrubber> {
  const names = hiddenNames(upstreams, upstreamNames);
  return createReadScrubber(upstreams, names, readAccess, (hidden) => createScrubber(hidden, serviceName));
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
  upstreams: readonly Upstream[],
  names: readonly string[],
  readAccess: ReadAccess,
  create: (hidden: readonly string[]) => Scrubber,
): () => Promise<Scrubber> {
  let made: { readonly secrets: string; readonly scrubber: Scrubber } | undefined;
  let latest: readonly Access[] = [];
  return async () => {
    const accesses = await Promise.all(upstreams.map(readAccess));
    if (made && accesses.every((access, at) => access === latest[at])) return made.scrubber;
    const sent = accesses.flatMap(({ keys, secretHeaders }) => [...keys, ...Object.values(secretHeaders)]);
    // A header may name a scheme before its secret.
    const secrets = sent.flatMap((value) => value.split(' ').filter(({ length }) => length >= shortestSecret));
    const joined = secrets.join(' ');
    if (made?.secrets !== joined) {
      const hidden = [...names, ...secrets.map((secret) => secret.slice(0, longestSecret))];
      made = { secrets: joined, scrubber: create(hidden) };
    }
    latest = accesses;
    return made.scrubber;
  };
}
