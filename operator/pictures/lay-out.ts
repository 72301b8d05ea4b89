import type { Arrow, Box, Picture } from './read-picture.ts';

export interface Rectangle {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

export interface Layout {
  readonly width: number;
  readonly height: number;
  placeOf(box: Box): Rectangle;
}

const margin = 24;
const titleHeight = 44;
const rowGap = 28;
const leastGap = 40;

/** Roughly how wide a text of this length is in most system fonts; rather too wide. */
const textWidth = (text: string, size: number): number => text.length * size * 0.56;

const nameSize = 14;
const noteSize = 12;
export const lineHeight = 18;

/** Makes columns as wide as their widest box, rows as high as their tallest, and gaps wide enough for the labels. */
export function layOut({ title, boxes, arrows }: Picture): Layout {
  const columns = 1 + Math.max(...boxes.map(({ column }) => column));
  const rows = 1 + Math.max(...boxes.map(({ row }) => row));
  const widths = measure(columns, (index) => boxes.filter(({ column }) => column === index).map(widthOf));
  const heights = measure(rows, (index) => boxes.filter(({ row }) => row === index).map(heightOf));
  const gaps = measure(columns, (index) => [
    leastGap,
    ...arrows.filter((arrow) => spans(arrow, index)).map(labelWidth),
  ]);
  const lefts = offsets(widths, (index) => gaps[index] ?? 0, margin);
  const tops = offsets(heights, () => rowGap, margin + titleHeight);
  const last = columns - 1;
  const width = (lefts[last] ?? 0) + (widths[last] ?? 0) + margin;
  return {
    width: Math.max(width, 2 * margin + textWidth(title, 17)),
    height: (tops[rows - 1] ?? 0) + (heights[rows - 1] ?? 0) + margin,
    placeOf: (box) => ({
      left: lefts[box.column] ?? 0,
      top: (tops[box.row] ?? 0) + ((heights[box.row] ?? 0) - heightOf(box)) / 2,
      width: widths[box.column] ?? 0,
      height: heightOf(box),
    }),
  };
}

const widthOf = ({ name, notes }: Box) =>
  Math.ceil(Math.max(textWidth(name, nameSize), ...notes.map((note) => textWidth(note, noteSize))) + 32);
const heightOf = ({ notes }: Box) => 28 + lineHeight * notes.length;
const labelWidth = ({ label }: Arrow) => Math.ceil(textWidth(label, noteSize) + 28);

/** Whether an arrow's label is in the gap after a column. */
const spans = ({ from, to }: Arrow, column: number) =>
  from.column !== to.column && Math.min(from.column, to.column) === column;

const measure = (count: number, sizes: (index: number) => readonly number[]): readonly number[] =>
  Array.from({ length: count }, (_, index) => Math.max(0, ...sizes(index)));

function offsets(sizes: readonly number[], gapAfter: (index: number) => number, start: number): readonly number[] {
  let offset = start;
  return sizes.map((size, index) => {
    const here = offset;
    offset += size + gapAfter(index);
    return here;
  });
}
