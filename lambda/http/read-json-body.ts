import { isUtf8 } from 'node:buffer';
import { JsonFault } from '../json/fault.ts';
import { createScanner, type Json } from '../json/scan.ts';
import { GatewayError } from './errors.ts';
import type { GatewayRequest } from './gateway-request.ts';

/** The scanned body of a request, which must be one JSON object in UTF-8. */
export function readJsonBody(request: Pick<GatewayRequest, 'body' | 'bodyIsBase64'>): Json {
  const text = readText(request);
  if (!/\S/.test(text)) throw new GatewayError('invalid_request', 'The body is empty: send a JSON object.');
  try {
    const json = createScanner().scan(text);
    if (json.kind(json.root) === 'object') return json;
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    throw new GatewayError('invalid_request', `The body is not valid JSON: ${error.message}.`);
  }
  throw new GatewayError('invalid_request', 'The body must be a JSON object.');
}

function readText({ body = '', bodyIsBase64 }: Pick<GatewayRequest, 'body' | 'bodyIsBase64'>): string {
  if (!bodyIsBase64) return body;
  const bytes = Buffer.from(body, 'base64');
  if (!isUtf8(bytes)) throw new GatewayError('invalid_request', 'The body is not valid UTF-8.');
  return bytes.toString('utf8');
}
