import { GatewayError } from '../../../errors.ts';
import { excerpt, longestPath } from '../../../json/quoting.ts';
import type { Json, Kind, Node } from '../../../json/scan.ts';
import { describe } from '../check-body.ts';
import { pathTo } from '../content.ts';

/** Whatever holds the request's body. */
interface HasBody {
  readonly json: Json;
}

/** Refuses the request with a message that begins with a place in it. `what`: the rest of the message. */
export function refuse({ json }: HasBody, at: Node, what: string): never {
  throw new GatewayError('invalid_request', `${excerpt(pathTo(json, at), longestPath) || 'The body'} ${what}`);
}

export function requireKind(holder: HasBody, value: Node, ...kinds: readonly Kind[]): void {
  const kind = holder.json.kind(value);
  if (kinds.includes(kind)) return;
  refuse(holder, value, `must be ${kinds.map(describe).join(' or ')}, not ${describe(kind)}.`);
}

/** In characters. A longer type is unknown anyway, and would be decoded many times. */
const longestType = 1_000;

/** The type of an item, part or tool; empty if it has none. */
export function typeOf(holder: HasBody, object: Node): string {
  const { json } = holder;
  requireKind(holder, object, 'object');
  const type = json.member(object, 'type');
  if (type === undefined || json.kind(type) !== 'string') return '';
  return json.end(type) - json.start(type) > longestType ? '…' : json.string(type);
}

const longestQuoted = 60;

/** Refuses an object with a message that begins with its place and type. `what`: the rest of the message. */
export function refuseType(holder: HasBody, object: Node, what: string): never {
  const type = typeOf(holder, object);
  refuse(holder, object, type === '' ? `(without a type) ${what}` : `(${excerpt(type, longestQuoted)}) ${what}`);
}

/** Types that are refused, with the rest of the message. */
export type RefusedTypes = readonly (readonly [types: RegExp, what: string])[];

/** Refuses an object whose type is not translated. */
export function refuseByType(holder: HasBody, object: Node, refused: RefusedTypes): never {
  const type = typeOf(holder, object);
  const [, what] = refused.find(([types]) => types.test(type)) ?? [];
  return what === undefined ? refuseUnknown(holder, object) : refuseType(holder, object, what);
}

/** Refuses an object of an unknown type where leaving it out would change what the client asked for. */
export function refuseUnknown(holder: HasBody, object: Node, remedy = 'Leave it out.'): never {
  refuseType(holder, object, `is of a kind that this model can't take. ${remedy}`);
}
