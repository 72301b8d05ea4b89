import { GatewayError } from '../http/errors.ts';
import type { Json } from '../json/scan.ts';

/** Fields of one dialect or another that decide what a request is, and what it costs. */
const decisive = ['model', 'messages', 'input', 'stream', 'thinking'];
const inAnyCase = decisive.map((name) => ({ name, pattern: new RegExp(`^${name}$`, 'iu') }));

/** Refuses a field that only some upstreams would read: they take `Model` for `model`, and would be shown another than was checked. */
export function refuseOtherCase(body: Json): void {
  for (const key of body.keys(body.root)) {
    const name = body.string(key);
    const meant = inAnyCase.find(({ pattern }) => pattern.test(name));
    if (meant === undefined || meant.name === name) continue;
    throw new GatewayError('invalid_request', `${name} is not a field: case matters. Write ${meant.name}.`);
  }
}

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

/** Each repeated member costs a change of the body: so many are sent by nobody but who wants to keep the gateway busy. */
const mostRepeats = 1_000;

/** Refuses an object in which members that the gateway reads or changes stand over and over again. */
export function refuseRepeats(repeats: number, what: string): void {
  if (repeats <= mostRepeats) return;
  throw new GatewayError('invalid_request', `${what} repeats a member more than ${mostRepeats} times: send each once.`);
}

/** "a string", "an object", "null" … */
export function describe(kind: ReturnType<Json['kind']>): string {
  if (kind === 'null') return kind;
  return /^[aeiou]/.test(kind) ? `an ${kind}` : `a ${kind}`;
}
