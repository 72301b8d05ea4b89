import { GatewayError } from '../http/errors.ts';
import type { Middleware, PipelineRequest } from './middleware.ts';

/** The largest request body in bytes: what a Function URL takes at most. */
export const bodyLimit = 6_291_456;

/** Refuses a body over the limit before anything is looked up for it. */
export function limitBody(): Middleware {
  return {
    before: ({ event: { body = '', bodyIsBase64 } }: PipelineRequest) => {
      // Counting bytes is only needed where the number of characters leaves a doubt.
      if (body.length * 3 <= bodyLimit) return;
      if (Buffer.byteLength(body, bodyIsBase64 ? 'base64' : 'utf8') <= bodyLimit) return;
      throw new GatewayError('request_too_large', `The request body may have ${bodyLimit} bytes at most. Send less.`);
    },
  };
}
