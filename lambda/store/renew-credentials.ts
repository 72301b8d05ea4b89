import { GatewayError } from '../http/errors.ts';
import type { Credentials } from './service.ts';

interface Expiring extends Credentials {
  readonly expiration?: Date;
}

/** How long before they expire new credentials are asked for. */
const ahead = 5 * 60_000;
/** How long after one try another is made, while the old ones still hold. */
const pause = 10_000;

const message = 'The gateway has no access to its own store right now. Please try again in a moment.';

/** Credentials that are renewed in the background before they expire: a request waits only where there are none that hold. */
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
