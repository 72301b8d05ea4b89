import { GatewayError } from '../http/errors.ts';
import type { Middleware } from './middleware.ts';

interface Dependencies {
  readonly isConfigured: () => Promise<boolean>;
  readonly readStop: ReadStop;
}

/** Why the operator has stopped the gateway; undefined while it serves. */
export type ReadStop = () => Promise<{ readonly reason?: string | undefined } | undefined>;

/** Refuses requests, uncharged, while the operator has stopped the gateway, or no upstream has a key. */
export function requireUpstream({ isConfigured, readStop }: Dependencies): Middleware {
  return {
    before: async () => {
      // In parallel: each is read again once a minute, and a request should not wait for one after the other.
      const [stop, configured] = await Promise.all([readStop(), isConfigured()]);
      if (stop) throw stopped(stop);
      if (configured) return;
      throw new GatewayError('unconfigured', 'This gateway has no upstream key yet: its operator has to set one.');
    },
  };
}

function stopped({ reason }: { readonly reason?: string | undefined }): GatewayError {
  return new GatewayError(
    'service_unavailable',
    `The operator has stopped this gateway${reason ? `: ${reason}` : ''}`,
    {
      advice: 'Please try again later.',
      headers: { 'retry-after': '60', 'x-should-retry': 'false' },
      reason: 'stopped',
      refund: true, // shows that the store works, and may be asked for the caller's figures
    },
  );
}
