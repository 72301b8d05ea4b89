import { readCredential } from '../identity/credential.ts';
import type { Identify } from '../identity/identify.ts';
import type { IncomingRequest } from '../request/incoming-request.ts';
import type { ArrivedAtInference, GatewayStep, Identified } from '../request/request.ts';
import type { Upstreams } from '../upstream/upstreams.ts';
import type { ReadStop } from './admit.ts';

/* Prefetching: starts what a later step will await. An error is left to that step. */

interface Dependencies {
  readonly identify: Identify;
  readonly isConfigured: () => Promise<boolean>;
  readonly readStop: ReadStop;
}

/**
 * Refreshes the minute caches before the caller's network and body are known. On a cold start it also looks up the key while the
 * secrets, which take more round trips, are still being read. The key comes after the stop switch, to reuse its connection: opening
 * a second one would take longer.
 */
export function createPrefetch({ identify, isConfigured, readStop }: Dependencies) {
  return ({ headers }: IncomingRequest, coldStart: boolean): void => {
    isConfigured().catch(() => {});
    const stopRead = readStop();
    stopRead.catch(() => {});
    const credential = readCredential(headers);
    if (!coldStart || credential.kind !== 'key') return;
    stopRead.then(() => identify(credential, '')).catch(() => {});
  };
}

/**
 * Opens a connection to the upstream while the request is charged. Only for members: anyone else could make the gateway open
 * connections for nothing.
 *
 * Needs: `identity` and the route. Adds: nothing. Never fails.
 */
export function prefetchConnection({
  preconnect,
}: Pick<Upstreams, 'preconnect'>): GatewayStep<ArrivedAtInference & Identified> {
  return {
    before: ({ identity, route }) => {
      if (identity.kind === 'member') preconnect(route).catch(() => {});
      return {};
    },
  };
}
