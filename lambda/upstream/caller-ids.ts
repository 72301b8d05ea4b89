import { createHmac, type KeyObject } from 'node:crypto';
import { GatewayError } from '../http/errors.ts';
import { type Edit, replaceValue } from '../json/edit.ts';
import type { Json, Node } from '../json/scan.ts';

/** Turns an id into a hash that only shows whether two ids are the same. */
export type HashId = (value: string) => string;

/** For one caller: equal ids have equal hashes, which no other caller's id has. 43 characters. */
export function createHashId(secret: KeyObject, caller: string): HashId {
  const prefix = `${caller.length}:${caller}`;
  return (value) => createHmac('sha256', secret).update(prefix).update(value).digest('base64url');
}

/** Members in which clients say who, where and on which device their user is. */
const ids = new Set(['user', 'safety_identifier', 'prompt_cache_key']);
/** Each takes the time of a hash. Only an attacker sends so many. */
const mostIds = 1_000;

/** The edits that hash all ids of the caller in a body, repeated members included. */
export function hashCallerIds(body: Json, hashId: HashId): Edit[] {
  const edits: Edit[] = [];
  const hash = (value: Node) => {
    const kind = body.kind(value);
    if (kind !== 'string' && kind !== 'number') return;
    if (edits.length === mostIds) throw tooMany();
    const id = kind === 'string' ? body.string(value) : body.raw(value);
    edits.push(replaceValue(body, value, JSON.stringify(hashId(id))));
  };
  for (const key of body.keys(body.root)) {
    const name = body.string(key);
    if (ids.has(name)) hash(key + 1);
    else if (name === 'metadata') {
      for (const inner of body.keys(key + 1)) if (body.string(inner) === 'user_id') hash(inner + 1);
    } else if (name === 'client_metadata') {
      for (let node = key + 1; node < body.next(key + 1); node += 1) if (!body.isKey(node)) hash(node);
    }
  }
  return edits;
}

function tooMany(): GatewayError {
  const message = `client_metadata, user and the like hold more than ${mostIds} values. Send fewer.`;
  return new GatewayError('invalid_request', message);
}
