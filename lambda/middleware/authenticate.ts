import { readCredential } from '../identity/credentials.ts';
import type { Identify } from '../identity/identify.ts';
import type { Middleware, PipelineRequest } from './middleware.ts';

interface Dependencies {
  readonly identify: Identify;
  readonly hashMember: (member: string) => Promise<string>;
}

/** Finds out who is calling. */
export function authenticate({ identify, hashMember }: Dependencies): Middleware {
  return {
    before: async ({ event: request }: PipelineRequest) => {
      const credential = request.credential ?? readCredential(request.headers);
      const identity = await identify(credential, request.networkId, request.headers.origin);
      request.identity = identity;
      if (identity.kind === 'member') request.memberHash = await hashMember(identity.member);
    },
  };
}
