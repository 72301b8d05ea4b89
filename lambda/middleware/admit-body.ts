import { encodingOf } from '../http/decode-body.ts';
import { GatewayError } from '../http/errors.ts';
import type { Middleware, PipelineRequest } from './middleware.ts';

/** Refuses a body that is too large as it came, or compressed in an unknown way, before anything is looked up for it. */
export function admitBody({ requestBodyLimit }: { requestBodyLimit: number }): Middleware {
  return {
    before: async ({ event: request }: PipelineRequest) => {
      if ((await request.bodySize()) > requestBodyLimit) {
        const message = `The request body may have ${requestBodyLimit} bytes at most. Send less.`;
        throw new GatewayError('request_too_large', message);
      }
      encodingOf(request.headers['content-encoding']);
    },
  };
}
