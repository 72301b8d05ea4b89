import { GatewayError } from '../../http/errors.ts';
import { badRequest } from '../wallet-error.ts';
import type { Middleware, PipelineRequest } from './middleware.ts';

const bodyLimit = 65_536;

/** Reads the JSON object of a POST. Another site can't send this content type without a preflight. */
export function readInput(): Middleware {
  return {
    before: async ({ event: request }: PipelineRequest) => {
      const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
      if (type !== 'application/json') throw badRequest('Send JSON, with content-type: application/json.', 415);
      if ((await request.bodySize(bodyLimit)) > bodyLimit) {
        throw new GatewayError('request_too_large', `The request body may have at most ${bodyLimit} bytes.`);
      }
      request.input = parse(Buffer.from(await request.takeBody()).toString() || '{}');
    },
  };
}

function parse(text: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw badRequest('The body is not valid JSON.');
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  throw badRequest('The body must be a JSON object.');
}
