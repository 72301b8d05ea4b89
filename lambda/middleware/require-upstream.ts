import { GatewayError } from '../http/errors.ts';
import type { Middleware } from './middleware.ts';

/** Refuses, uncharged, while the operator has not given the gateway a key for any upstream. */
export function requireUpstream({ isConfigured }: { isConfigured: () => Promise<boolean> }): Middleware {
  return {
    before: async () => {
      if (await isConfigured()) return;
      throw new GatewayError('unconfigured', 'This gateway has no upstream key yet: its operator has to set one.');
    },
  };
}
