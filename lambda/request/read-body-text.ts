import { isUtf8 } from 'node:buffer';
import { encodings, GatewayError } from '../errors.ts';
import type { Json, Node } from '../json/scan.ts';
import { JsonFault, JsonLimit } from '../json/tokens.ts';
import type { Body } from './incoming-request.ts';

/** At the top level. No dialect has a hundred, and each is compared with every name that the gateway knows. */
const mostFields = 1_000;
/** In characters, as written. Names are decoded again and again. */
const longestName = 1_000;
/** Of any object. Looking up a member is a linear scan, and some objects are searched ten times. */
const mostMembers = 20_000;

/** The text of a body, which must be UTF-8. */
export function readBodyText(body: Body): string {
  const text = typeof body === 'string' ? body : toText(body);
  if (!/\S/.test(text)) throw new GatewayError('invalid_request', 'The body is empty: send a JSON object.');
  // Windows editors and shells add one, invisibly.
  if (text.startsWith('\ufeff')) {
    throw new GatewayError('invalid_request', 'The body begins with a byte order mark. Send it without.');
  }
  return text;
}

/** Turns a JSON syntax error or limit into a 400. */
export function toBodyError(fault: unknown): unknown {
  if (!(fault instanceof JsonFault)) return fault;
  const message =
    fault instanceof JsonLimit
      ? `The body exceeds a limit of the gateway: ${fault.message}. Send fewer.`
      : `The body is not valid JSON: ${fault.message}.`;
  return new GatewayError('invalid_request', message);
}

/** Refuses a body that is not an object, or that has more members than any real client sends. */
export function checkJsonBody(body: Json): void {
  if (body.kind(body.root) !== 'object') {
    throw new GatewayError('invalid_request', 'The body must be a JSON object.');
  }
  if (countMembers(body, body.root, mostFields) > mostFields) {
    const message = `The body has more than ${mostFields} fields at its top level. Send fewer.`;
    throw new GatewayError('invalid_request', message);
  }
  for (const key of body.keys(body.root)) {
    if (body.end(key) - body.start(key) - 2 <= longestName) continue;
    const message = `The body has a field whose name is longer than ${longestName} characters. Leave it out.`;
    throw new GatewayError('invalid_request', message);
  }
  for (let node = body.root; node < body.size; ) {
    // Each member is two nodes: its key and its value.
    const mayHoldMany = body.next(node) - node > 2 * mostMembers;
    if (mayHoldMany && countMembers(body, node, mostMembers) > mostMembers) {
      const message = `The body has an object with more than ${mostMembers} members. Send fewer.`;
      throw new GatewayError('invalid_request', message);
    }
    node = mayHoldMany ? node + 1 : body.next(node);
  }
}

/** Counts an object's members, up to one more than `most`. 0 if it is not an object. */
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

/** The encoding in a `content-encoding` header; undefined if it is not supported. */
export function readEncoding(header: string | undefined): Encoding | 'identity' | undefined {
  const name = header?.trim().toLowerCase() || 'identity';
  return (['identity', ...encodings] as const).find((known) => known === name);
}

export function unsupportedEncoding(): GatewayError {
  const known = encodings.join(', ');
  return new GatewayError('unsupported_encoding', `Send the body as it is, or compressed once, with one of ${known}.`);
}
