import { GatewayError } from '../http/errors.ts';
import type { Middleware } from './middleware.ts';

/** Refuses requests, uncharged, while no upstream has a key. */
export function requireUpstream({ isConfigured }: { isConfigured: () => Promise<boolean> }): Middleware {
  return {
    before: async () => {
      if (await isConfigured()) return;
      throw new GatewayError('unconfigured', 'This gateway has no upstream key yet: its operator has to set one.');
    },
  };
}
