import { readEncoding, unsupportedEncoding } from '../http/decode-body.ts';
import { GatewayError } from '../http/errors.ts';
import { readCredential } from '../identity/credentials.ts';
import type { Middleware, PipelineRequest } from './middleware.ts';

/**
 * Refuses a body that is too large as received, or has an unknown encoding, before anything is looked up. If the headers alone
 * will get the request refused, the body is not kept.
 */
export function admitBody({ requestBodyLimit }: { requestBodyLimit: number }): Middleware {
  return {
    before: async ({ event: request }: PipelineRequest) => {
      request.credential = readCredential(request.headers);
      request.encoding = readEncoding(request.headers['content-encoding']);
      const mayPass = request.encoding !== undefined && request.credential.kind !== 'none';
      const size = await (mayPass ? request.bodySize() : request.dropBody());
      if (size > requestBodyLimit) {
        const message = `The request body may have at most ${requestBodyLimit} bytes. Send less.`;
        throw new GatewayError('request_too_large', message);
      }
      if (request.encoding === undefined) throw unsupportedEncoding();
    },
  };
}
