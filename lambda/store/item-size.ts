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

function valueSize({ S, N, BS }: Value): number {
  if (N !== undefined) return Math.ceil(N.length / 2) + 1;
  if (BS !== undefined) return BS.reduce((size, element) => size + Buffer.byteLength(element, 'base64') + 1, 3);
  return Buffer.byteLength(S ?? '');
}
