import { GatewayError } from '../../../errors.ts';
import { excerpt, longestPath } from '../../../json/quoting.ts';
import type { Json, Kind, Node } from '../../../json/scan.ts';
import { describe } from '../check-body.ts';
import { pathTo } from '../content.ts';

/** Whatever has the request's body. */
interface Asked {
  readonly json: Json;
}

/** A refusal of the request that names a place in it: `what` goes on after the place. */
export function refuse({ json }: Asked, at: Node, what: string): never {
  throw new GatewayError('invalid_request', `${excerpt(pathTo(json, at), longestPath) || 'The body'} ${what}`);
}

export function requireKind(asked: Asked, value: Node, ...kinds: readonly Kind[]): void {
  const kind = asked.json.kind(value);
  if (kinds.includes(kind)) return;
  refuse(asked, value, `must be ${kinds.map(describe).join(' or ')}, not ${describe(kind)}.`);
}

/** In characters. A longer type is none that anybody knows, and would be decoded many times. */
const longestType = 1_000;

/** The type of an item, part or tool. */
export function typeOf(asked: Asked, object: Node): string {
  const { json } = asked;
  requireKind(asked, object, 'object');
  const type = json.member(object, 'type');
  if (type === undefined || json.kind(type) !== 'string') return '';
  return json.end(type) - json.start(type) > longestType ? '…' : json.string(type);
}

const longestQuoted = 60;

/** Refuses something of a type: `what` goes on after the place and the type. */
export function refuseType(asked: Asked, object: Node, what: string): never {
  const type = typeOf(asked, object);
  refuse(asked, object, type === '' ? `(without a type) ${what}` : `(${excerpt(type, longestQuoted)}) ${what}`);
}

/** Types that are refused, with the end of the sentence. */
export type RefusedTypes = readonly (readonly [types: RegExp, what: string])[];

/** Refuses something of a type that is not translated. */
export function refuseByType(asked: Asked, object: Node, refused: RefusedTypes): never {
  const type = typeOf(asked, object);
  const [, what] = refused.find(([types]) => types.test(type)) ?? [];
  return what === undefined ? refuseUnknown(asked, object) : refuseType(asked, object, what);
}

/** Refuses something whose type nobody here knows: it carries a promise. */
export function refuseUnknown(asked: Asked, object: Node, remedy = 'Leave it out.'): never {
  refuseType(asked, object, `is of a kind that this model can't take. ${remedy}`);
}
