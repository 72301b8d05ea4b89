import type { Item, Value } from './table.ts';

/** The bytes that one write unit covers. */
const unitBytes = 1024;

/** The units of a write to an item of this many bytes, before or after it. */
export function writeUnits(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / unitBytes));
}

/** The bytes of an item, its names included, as DynamoDB counts them. It does not document sets: they count like lists here. */
export function itemSize(item: Item): number {
  return Object.entries(item).reduce((size, [name, value]) => size + name.length + valueSize(value), 0);
}

function valueSize({ S, N, SS, BS }: Value): number {
  if (N !== undefined) return Math.ceil(N.length / 2) + 1;
  if (SS !== undefined) return setSize(SS, 'utf8');
  if (BS !== undefined) return setSize(BS, 'base64');
  return Buffer.byteLength(S ?? '');
}

function setSize(elements: readonly string[], encoding: 'utf8' | 'base64'): number {
  return elements.reduce((size, element) => size + Buffer.byteLength(element, encoding) + 1, 3);
}
