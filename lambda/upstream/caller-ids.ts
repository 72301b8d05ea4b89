import { createHmac, type KeyObject } from 'node:crypto';
import { GatewayError } from '../errors.ts';
import { type Edit, replaceValue } from '../json/edit.ts';
import type { Json, Node } from '../json/scan.ts';

/** Turns an id into a hash that shows only whether two ids are the same. */
type HashId = (value: string) => string;

/** Hashes are scoped to the caller: another caller's equal id hashes differently. 43 characters. */
export function createHashId(secret: KeyObject, caller: string): HashId {
  const prefix = `${caller.length}:${caller}`;
  return (value) => createHmac('sha256', secret).update(prefix).update(value).digest('base64url');
}

/** Returns the edits that hash the ids of one caller in a body. */
export type HashIds = (body: Json) => Edit[];

export function createHashIds(secret: KeyObject, caller: string): HashIds {
  const hashId = createHashId(secret, caller);
  return (body) => hashCallerIds(body, hashId);
}

/** Members in which clients identify their user or device. */
const ids = new Set(['user', 'safety_identifier', 'prompt_cache_key']);
/** Each costs a hash. Only an attacker sends so many. */
const mostIds = 1_000;

/** The edits that hash all ids of the caller in a body, repeated members included. */
export function hashCallerIds(body: Json, hashId: HashId): Edit[] {
  const edits: Edit[] = [];
  let read = 0;
  const hash = (value: Node) => {
    if (++read > mostIds) {
      const message = `client_metadata, user and the like hold more than ${mostIds} values. Send fewer.`;
      throw new GatewayError('invalid_request', message);
    }
    const kind = body.kind(value);
    if (kind !== 'string' && kind !== 'number') return;
    const id = kind === 'string' ? body.string(value) : body.raw(value);
    edits.push(replaceValue(body, value, JSON.stringify(hashId(id))));
  };
  for (const key of body.keys(body.root)) {
    const name = body.string(key);
    if (ids.has(name)) hash(key + 1);
    else if (name === 'metadata') {
      for (const inner of body.keys(key + 1)) if (body.string(inner) === 'user_id') hash(inner + 1);
    } else if (name === 'client_metadata') {
      const [value, end] = [key + 1, body.next(key + 1)];
      // All values inside it; or the value itself, if it is a scalar.
      for (let node = Math.min(value + 1, end - 1); node < end; node += 1) if (!body.isKey(node)) hash(node);
    }
  }
  return edits;
}
