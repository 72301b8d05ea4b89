import type { Config } from '../settings/config.ts';
import type { Access, ReadAccess, Upstream } from '../settings/read-upstreams.ts';
import { hiddenNames } from './hidden-names.ts';
import { createScrubber, type Scrubber } from './scrub.ts';

/** Returns the scrubber for the upstreams' names, current keys and secret headers: created lazily, cached until a secret rotates. */
export function createHiding(
  upstreams: readonly Upstream[],
  { upstreamNames }: Config['hiding'],
  serviceName: string,
  readAccess: ReadAccess,
): () => Promise<Scrubber> {
  const names = hiddenNames(upstreams, upstreamNames);
  return createReadScrubber(upstreams, names, readAccess, (hidden) => createScrubber(hidden, serviceName));
}

/** Shorter ones are words such as `none`, for upstreams without keys, and may occur in any text. */
const shortestSecret = 16;
/** A longer secret is hidden in pieces of this length, because one as long as a token would delay streams. */
const longestPiece = 128;

/**
 * Returns what `create` makes of these names and of the current keys and secret headers. Cached until those change.
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
    const accesses = await Promise.all(upstreams.map((upstream) => readAccess(upstream).catch(noToken(upstream))));
    if (made && accesses.every((access, at) => access === latest[at])) return made.scrubber;
    const sent = accesses.flatMap(({ keys, secretHeaders }) => [...keys, ...Object.values(secretHeaders)]);
    // A header may have a scheme before its secret, such as `Bearer`.
    const secrets = sent.flatMap((value) => value.split(' ').filter(({ length }) => length >= shortestSecret));
    const joined = secrets.join(' ');
    if (made?.secrets !== joined) {
      const hidden = [...names, ...secrets.flatMap(piecesOf)];
      made = { secrets: joined, scrubber: create(hidden) };
    }
    latest = accesses;
    return made.scrubber;
  };
}

const nothing: Access = { keys: [], headers: {}, secretHeaders: {} };

/** A token that can't be made is not sent either. Keys that can't be read may be in use. */
const noToken =
  ({ tokenRegion }: Upstream) =>
  (error: unknown): Access => {
    if (tokenRegion === undefined) throw error;
    return nothing;
  };

/** The last piece may be too short to hide, but is worthless without the others. */
function piecesOf(secret: string): string[] {
  const pieces = secret.match(new RegExp(`.{1,${longestPiece}}`, 'g')) ?? [];
  return pieces.filter(({ length }) => length >= shortestSecret);
}
