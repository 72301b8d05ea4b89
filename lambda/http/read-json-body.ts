import { isUtf8 } from 'node:buffer';
import { JsonFault } from '../json/fault.ts';
import { createScanner, type Json } from '../json/scan.ts';
import { isLong, type Work } from '../json/turns.ts';
import type { Body } from './call.ts';
import { GatewayError } from './errors.ts';

/** Only an attacker sends more: no dialect has a hundred. Each is compared with every name that the gateway knows. */
const mostMembers = 1_000;

/** The scanned body of a request, which must be one JSON object in UTF-8. */
export function* readJsonBody(body: Body): Work<Json> {
  if (isLong(body)) yield;
  const text = readText(body);
  if (!/\S/.test(text)) throw new GatewayError('invalid_request', 'The body is empty: send a JSON object.');
  try {
    const scanner = createScanner();
    const json = isLong(text) ? yield* scanner.scanInParts(text) : scanner.scan(text);
    if (json.kind(json.root) === 'object') return refuseTooMany(json);
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    throw new GatewayError('invalid_request', `The body is not valid JSON: ${error.message}.`);
  }
  throw new GatewayError('invalid_request', 'The body must be a JSON object.');
}

function refuseTooMany(body: Json): Json {
  let members = 0;
  for (const _ of body.keys(body.root)) {
    members += 1;
    if (members <= mostMembers) continue;
    throw new GatewayError(
      'invalid_request',
      `The body has more than ${mostMembers} fields at its top level. Send fewer.`,
    );
  }
  return body;
}

function readText(body: Body): string {
  if (typeof body === 'string') return body;
  if (!isUtf8(body)) throw new GatewayError('invalid_request', 'The body is not valid UTF-8.');
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8');
}
