import { GatewayError } from '../http/errors.ts';
import type { Credentials } from './service.ts';

interface Expiring extends Credentials {
  readonly expiration?: Date;
}

/** How long before the old credentials expire to ask for new ones. */
const ahead = 5 * 60_000;
/** The pause between two tries, while the old ones are still valid. */
const pause = 10_000;

const message = 'The gateway has no access to its own store right now. Please try again in a moment.';

/** Renews credentials in the background before they expire. A request waits only if there are no valid ones. */
export function renewCredentials(provide: () => Promise<Expiring>, now: () => number): () => Promise<Credentials> {
  let known: Expiring | undefined;
  let renewal: Promise<Expiring> | undefined;
  let triedAt = Number.NEGATIVE_INFINITY;

  const renew = (): Promise<Expiring> => {
    triedAt = now();
    renewal ??= provide()
      .then((credentials) => {
        known = credentials;
        return credentials;
      })
      .catch((cause) => {
        throw new GatewayError('service_unavailable', message, { cause });
      })
      .finally(() => {
        renewal = undefined;
      });
    return renewal;
  };

  return async () => {
    const left = (known?.expiration?.getTime() ?? Number.POSITIVE_INFINITY) - now();
    if (!known || left <= 0) return renew();
    if (left < ahead && now() - triedAt >= pause) renew().catch(() => {});
    return known;
  };
}
