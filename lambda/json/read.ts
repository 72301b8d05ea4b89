import type { Json, Node } from './scan.ts';

/** The elements of an array node; none if it is not an array. */
export function elements(json: Json, array: Node | undefined): Node[] {
  const nodes: Node[] = [];
  if (array === undefined || json.kind(array) !== 'array') return nodes;
  const end = json.next(array);
  for (let node = array + 1; node < end; node = json.next(node)) nodes.push(node);
  return nodes;
}

/** Visits each member of an object node; none if it is not an object. */
export function eachMember(json: Json, object: Node | undefined, visit: (name: string, value: Node) => void): void {
  if (object === undefined || json.kind(object) !== 'object') return;
  const end = json.next(object);
  for (let key = object + 1; key < end; key = json.next(key + 1)) visit(json.string(key), key + 1);
}

/** The decoded text of a string member, or undefined. */
export function stringMember(json: Json, object: Node | undefined, name: string): string | undefined {
  const value = json.member(object, name);
  return value !== undefined && json.kind(value) === 'string' ? json.string(value) : undefined;
}

/** The value of a member that is a safe integer, or undefined: others, such as 1e999, could not be written back exactly. */
export function numberMember(json: Json, object: Node | undefined, name: string): number | undefined {
  const value = json.member(object, name);
  if (value === undefined || json.kind(value) !== 'number') return undefined;
  const number = Number(json.raw(value));
  return Number.isSafeInteger(number) ? number : undefined;
}

/** A member that is present and not null. */
export function presentMember(json: Json, object: Node | undefined, name: string): Node | undefined {
  const value = json.member(object, name);
  return value !== undefined && json.kind(value) !== 'null' ? value : undefined;
}
