import type { Layout } from './lay-out.ts';
import type { Arrow } from './read-picture.ts';

export type Point = readonly [x: number, y: number];

/** The corners of an arrow: straight within a row or a column, otherwise with one bend. */
export function routeOf({ from, to, bend }: Arrow, { placeOf }: Layout): readonly Point[] {
  const [start, end] = [placeOf(from), placeOf(to)];
  const [right, down] = [from.column < to.column, from.row < to.row];
  const middle = { x: start.left + start.width / 2, y: start.top + start.height / 2 };
  const target = { x: end.left + end.width / 2, y: end.top + end.height / 2 };
  const leave: Point = [right ? start.left + start.width : start.left, middle.y];
  const drop: Point = [middle.x, down ? start.top + start.height : start.top];
  const enterSide: Point = [right ? end.left : end.left + end.width, target.y];
  const enterEdge: Point = [target.x, down ? end.top : end.top + end.height];
  if (from.column === to.column) return [drop, enterEdge];
  if (from.row === to.row) return [leave, enterSide];
  return bend === 'last' ? [leave, [target.x, middle.y], enterEdge] : [drop, [middle.x, target.y], enterSide];
}
