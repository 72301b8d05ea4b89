import { GatewayError } from '../http/errors.ts';
import type { Json } from '../json/scan.ts';

/** Refuses a body whose `name` is missing or no array. */
export function requireArray(body: Json, name: string): void {
  const value = body.member(body.root, name);
  if (value === undefined) {
    // Some agents send bodies of the responses dialect wherever they are told to.
    const other = body.member(body.root, 'input') === undefined ? '' : ', or a body with input to /v1/responses';
    throw new GatewayError('invalid_request', `${name} is missing: send it as an array${other}.`);
  }
  if (body.kind(value) !== 'array') {
    throw new GatewayError('invalid_request', `${name} must be an array, not ${describe(body.kind(value))}.`);
  }
}

/** "a string", "an object", "null" … */
export function describe(kind: ReturnType<Json['kind']>): string {
  if (kind === 'null') return kind;
  return /^[aeiou]/.test(kind) ? `an ${kind}` : `a ${kind}`;
}
