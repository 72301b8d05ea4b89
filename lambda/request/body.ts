import { isUtf8 } from 'node:buffer';
import { encodings, GatewayError } from '../errors.ts';
import { type Cooperative, isLong, nodesPerTurn } from '../json/cooperative.ts';
import { createScanner, type Json, type Node } from '../json/scan.ts';
import { JsonFault, JsonLimit } from '../json/tokens.ts';
import type { Body } from './call.ts';

/** Only an attacker sends more: no dialect has a hundred. Each is compared with every name that the gateway knows. */
const mostFields = 1_000;
/** Of any object. A look for a member goes through all of them at once, and some objects are looked at ten times. */
const mostMembers = 20_000;

/** The scanned body of a request, which must be one JSON object in UTF-8. */
export function* readJsonBody(body: Body): Cooperative<Json> {
  if (isLong(body)) yield;
  const text = typeof body === 'string' ? body : toText(body);
  if (!/\S/.test(text)) throw new GatewayError('invalid_request', 'The body is empty: send a JSON object.');
  // Editors and shells of Windows write one, which nobody sees.
  if (text.startsWith('\ufeff')) {
    throw new GatewayError('invalid_request', 'The body begins with a byte order mark. Send it without.');
  }
  try {
    const scanner = createScanner();
    const json = isLong(text) ? yield* scanner.scanInParts(text) : scanner.scan(text);
    if (json.kind(json.root) === 'object') {
      yield* refuseTooMany(json);
      return json;
    }
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    const message =
      error instanceof JsonLimit
        ? `The body exceeds a limit of the gateway: ${error.message}. Send fewer.`
        : `The body is not valid JSON: ${error.message}.`;
    throw new GatewayError('invalid_request', message);
  }
  throw new GatewayError('invalid_request', 'The body must be a JSON object.');
}

function* refuseTooMany(body: Json): Cooperative<void> {
  if (countMembers(body, body.root, mostFields) > mostFields) {
    const message = `The body has more than ${mostFields} fields at its top level. Send fewer.`;
    throw new GatewayError('invalid_request', message);
  }
  let looked = 0;
  for (let node = body.root; node < body.size; ) {
    // With its key and its value, each member is two nodes.
    const mayHoldMany = body.next(node) - node > 2 * mostMembers;
    const members = mayHoldMany ? countMembers(body, node, mostMembers) : 0;
    if (members > mostMembers) {
      const message = `The body has an object with more than ${mostMembers} members. Send fewer.`;
      throw new GatewayError('invalid_request', message);
    }
    node = mayHoldMany ? node + 1 : body.next(node);
    looked += 1 + members;
    if (looked < nodesPerTurn) continue;
    looked = 0;
    yield;
  }
}

/** The members of an object, or one more than `most`; none if it is not an object. */
function countMembers(body: Json, object: Node, most: number): number {
  let members = 0;
  for (const _ of body.keys(object)) {
    members += 1;
    if (members > most) break;
  }
  return members;
}

function toText(bytes: Uint8Array): string {
  if (!isUtf8(bytes)) throw new GatewayError('invalid_request', 'The body is not valid UTF-8.');
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}

export type Encoding = (typeof encodings)[number];

/** The encoding that a `content-encoding` names; undefined if it is not supported. */
export function readEncoding(header: string | undefined): Encoding | 'identity' | undefined {
  const name = header?.trim().toLowerCase() || 'identity';
  return (['identity', ...encodings] as const).find((known) => known === name);
}

export function unsupportedEncoding(): GatewayError {
  const known = encodings.join(', ');
  return new GatewayError('unsupported_encoding', `Send the body as it is, or compressed once, with one of ${known}.`);
}
