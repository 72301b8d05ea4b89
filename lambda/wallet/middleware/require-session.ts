import type { Sessions } from '../sessions.ts';
import type { Middleware, PipelineRequest } from './middleware.ts';

/** Finds out who is signed in. */
export function requireSession({ sessions }: { sessions: Sessions }): Middleware {
  return {
    before: async ({ event: request }: PipelineRequest) => {
      request.member = await sessions.findMember(request.headers.authorization);
    },
  };
}
