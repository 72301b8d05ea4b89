import { type ErrorOptions, GatewayError } from '../../errors.ts';
import { earlierDuplicates } from '../../json/edit.ts';
import type { Json, Node } from '../../json/scan.ts';

/** Fields that decide, in some dialect, what a request does and what it costs. */
const decisive = ['model', 'messages', 'input', 'stream', 'thinking'];
const inAnyCase = decisive.map((name) => ({ name, pattern: new RegExp(`^${name}$`, 'iu') }));

/** Refuses fields such as `Model`: some upstreams read it as `model`, and would see another value than the gateway checked. */
export function refuseOtherCase(body: Json): void {
  for (const key of body.keys(body.root)) {
    const name = body.string(key);
    const meant = inAnyCase.find(({ pattern }) => pattern.test(name));
    if (meant === undefined || meant.name === name) continue;
    throw new GatewayError('invalid_request', `${name} is not a field: case matters. Write ${meant.name}.`);
  }
}

/** Fields by which routers choose another model than `model`. */
const routing = /^(models|fallbacks|route)$/iu;

/** Refuses fields by which a caller with limited models or budget could reach other models. */
export function refuseRouting(body: Json): void {
  for (const key of body.keys(body.root)) {
    const name = body.string(key);
    if (!routing.test(name) || body.kind(key + 1) === 'null') continue;
    throw new GatewayError('invalid_request', `${name} can't be used with this key. Leave it out, and send one model.`);
  }
}

/** Refuses a body in which the member `name` is missing or not an array. */
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

/** Refuses a member that asks for stored state. `history`: the member to send the history in. */
export function refuseState(name: string, history: string, more: Pick<ErrorOptions, 'details' | 'refund'> = {}): never {
  const message = `${name} is not supported: nothing is stored between requests. Send the full history in ${history}.`;
  throw new GatewayError('invalid_request', message, more);
}

/** The error for an endpoint that no available upstream offers. Not charged. */
export function notOffered(
  {
    compacts = false,
    embeddings = false,
  }: { readonly compacts?: boolean | undefined; readonly embeddings?: boolean | undefined },
  cause?: unknown,
): GatewayError {
  const message = compacts
    ? 'Compacting a conversation is not offered here: have the client shorten it by a request of its own.'
    : `${embeddings ? 'Embeddings are' : 'Counting tokens is'} not offered here.`;
  return new GatewayError('not_found', message, { refund: true, cause });
}

/** Each repeated member costs an edit of the body. Only an attacker sends so many. */
const mostRepeats = 1_000;

/** The repeated keys `name` of an object, except the last, which counts. `within`: the name of that object, a top-level member. */
export function repeatsOf(body: Json, object: Node, within: string, name: string): Set<Node> {
  const repeats = earlierDuplicates(body, object, new Set([name]));
  if (repeats.size <= mostRepeats) return repeats;
  const message = `${within} repeats a member more than ${mostRepeats} times: send each once.`;
  throw new GatewayError('invalid_request', message);
}

/** "a string", "an object", "null" … */
export function describe(kind: ReturnType<Json['kind']>): string {
  if (kind === 'null') return kind;
  return /^[aeiou]/.test(kind) ? `an ${kind}` : `a ${kind}`;
}
