import { readCredential } from '../identity/credential.ts';
import type { Identify } from '../identity/identify.ts';
import type { Call } from '../request/call.ts';
import type { Arrived, ArrivedAtInference, GatewayStep, Identified } from '../request/request.ts';
import type { Upstreams } from '../upstream/upstreams.ts';
import type { ReadStop } from './admit.ts';

/* What gets ready what a later step needs, while another waits. What fails is found out by whoever needs it. */

interface KeyNeeds {
  readonly identify: Identify;
  readonly readStop: ReadStop;
}

/**
 * Has the first caller looked up while the secrets are still read, which takes more round trips. Waits for the stop switch, as that
 * is read over the same connection: another would take longer.
 */
export function createPrefetchKey({ identify, readStop }: KeyNeeds) {
  return ({ headers }: Call): void => {
    const credential = readCredential(headers);
    if (credential.kind !== 'key') return;
    readStop()
      .then(() => identify(credential, ''))
      .catch(() => {});
  };
}

interface RefreshNeeds {
  readonly isConfigured: () => Promise<boolean>;
  readonly readStop: ReadStop;
}

/** Has what may be a minute old read again while the caller is looked up, not after that. */
export function refresh({ isConfigured, readStop }: RefreshNeeds): GatewayStep<Arrived> {
  return {
    before: () => {
      for (const reading of [isConfigured(), readStop()]) reading.catch(() => {});
      return {};
    },
  };
}

/**
 * Has the upstream's connection opened while the request is charged. Only for those whose key is known: whoever has none could have
 * connections opened for nothing.
 */
export function connectUpstream({
  connectAhead,
}: Pick<Upstreams, 'connectAhead'>): GatewayStep<ArrivedAtInference & Identified> {
  return {
    before: ({ identity, route }) => {
      if (identity.kind === 'member') connectAhead(route).catch(() => {});
      return {};
    },
  };
}
