import { GatewayError } from '../../http/errors.ts';
import { badRequest } from '../wallet-error.ts';
import type { Middleware, PipelineRequest } from './middleware.ts';

const bodyLimit = 65_536;

/** Reads the JSON object that a POST brings. A form of another site can't send this type without asking first. */
export function readInput(): Middleware {
  return {
    before: ({ event: request }: PipelineRequest) => {
      const { headers, body = '{}', bodyIsBase64 } = request;
      const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase();
      if (type !== 'application/json') throw badRequest('Send JSON, with content-type: application/json.', 415);
      if (body.length > bodyLimit) {
        throw new GatewayError('request_too_large', `The request body may have ${bodyLimit} bytes at most.`);
      }
      request.input = parse(bodyIsBase64 ? Buffer.from(body, 'base64').toString() : body);
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
