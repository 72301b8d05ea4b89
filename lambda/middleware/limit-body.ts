import { GatewayError } from '../http/errors.ts';
import type { Middleware, PipelineRequest } from './middleware.ts';

/** The largest request body in bytes: what a Function URL takes at most. */
export const bodyLimit = 6_291_456;

/** Refuses a body over the limit before anything is looked up for it. */
export function limitBody(): Middleware {
  return {
    before: async ({ event: request }: PipelineRequest) => {
      if ((await request.bodySize()) <= bodyLimit) return;
      throw new GatewayError('request_too_large', `The request body may have ${bodyLimit} bytes at most. Send less.`);
    },
  };
}
