import { GatewayError } from '../http/errors.ts';
import type { Json } from '../json/scan.ts';

/** Fields that decide, in one dialect or another, what a request is and what it costs. */
const decisive = ['model', 'messages', 'input', 'stream', 'thinking'];
const inAnyCase = decisive.map((name) => ({ name, pattern: new RegExp(`^${name}$`, 'iu') }));

/** Refuses fields such as `Model`: some upstreams take it for `model`, and would see another value than the one checked. */
export function refuseOtherCase(body: Json): void {
  for (const key of body.keys(body.root)) {
    const name = body.string(key);
    const meant = inAnyCase.find(({ pattern }) => pattern.test(name));
    if (meant === undefined || meant.name === name) continue;
    throw new GatewayError('invalid_request', `${name} is not a field: case matters. Write ${meant.name}.`);
  }
}

/** Refuses a body whose `name` is missing or not an array. */
export function requireArray(body: Json, name: string): void {
  const value = body.member(body.root, name);
  if (value === undefined) {
    // Some agents send bodies of the responses dialect to any endpoint.
    const other = body.member(body.root, 'input') === undefined ? '' : ', or a body with input to /v1/responses';
    throw new GatewayError('invalid_request', `${name} is missing: send it as an array${other}.`);
  }
  if (body.kind(value) !== 'array') {
    throw new GatewayError('invalid_request', `${name} must be an array, not ${describe(body.kind(value))}.`);
  }
}

/** Each repeated member costs an edit of the body. Only an attacker sends so many. */
const mostRepeats = 1_000;

/** Refuses an object that repeats members which the gateway reads or changes too often. */
export function refuseRepeats(repeats: number, what: string): void {
  if (repeats <= mostRepeats) return;
  throw new GatewayError('invalid_request', `${what} repeats a member more than ${mostRepeats} times: send each once.`);
}

/** "a string", "an object", "null" … */
export function describe(kind: ReturnType<Json['kind']>): string {
  if (kind === 'null') return kind;
  return /^[aeiou]/.test(kind) ? `an ${kind}` : `a ${kind}`;
}
