import { readCredential } from '../identity/credential.ts';
import type { Identify } from '../identity/identify.ts';
import type { IncomingRequest } from '../request/incoming-request.ts';
import type { ArrivedAtInference, GatewayStep, Identified } from '../request/request.ts';
import type { Upstreams } from '../upstream/upstreams.ts';
import type { ReadStop } from './admit.ts';

/* What gets ready what a later step needs, while another waits. What fails is found out by whoever needs it. */

interface Dependencies {
  readonly identify: Identify;
  readonly isConfigured: () => Promise<boolean>;
  readonly readStop: ReadStop;
}

/**
 * Begins what a call will wait for, before its network and its body are known: what may be a minute old is read again. The first
 * caller is looked up while the secrets are still read, which takes more round trips; but after the stop switch, as that is read
 * over the same connection: another would take longer.
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
 * Has the upstream's connection opened while the request is charged. Only for those whose key is known: whoever has none could have
 * connections opened for nothing.
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
