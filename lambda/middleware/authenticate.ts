import { readCredential } from '../identity/credentials.ts';
import type { Identify } from '../identity/identify.ts';
import type { Middleware, PipelineRequest } from './middleware.ts';

/** Finds out who is calling. */
export function authenticate({ identify }: { identify: Identify }): Middleware {
  return {
    before: async ({ event: request }: PipelineRequest) => {
      const credential = readCredential(request.headers);
      request.identity = await identify(credential, request.networkId, request.headers.origin);
    },
  };
}
