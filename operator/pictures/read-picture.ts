/** A picture: boxes in the cells of a grid, and arrows between them. */
export interface Picture {
  readonly title: string;
  /** Describes it, for people who can't see it. */
  readonly description: string;
  readonly boxes: readonly Box[];
  readonly arrows: readonly Arrow[];
}

export interface Box {
  /** As in a spreadsheet: `b3`. */
  readonly cell: string;
  readonly column: number;
  readonly row: number;
  readonly kind: Kind;
  readonly name: string;
  readonly notes: readonly string[];
}

export interface Arrow {
  readonly from: Box;
  readonly to: Box;
  readonly label: string;
  /** For a part that is optional. */
  readonly dashed: boolean;
  /** Whether it starts along the column and enters its target from the side, rather than the other way round. */
  readonly bend: 'first' | 'last';
}

const kinds = ['step', 'outside', 'store', 'good', 'bad', 'text'] as const;
export type Kind = (typeof kinds)[number];

/**
 * Reads a source: a title, a description in one line, then a line for each box and each arrow.
 *
 *     b3 step authenticate | who is calling
 *     b3 -> a3 : refused
 *     b3 |-> c4
 *
 * A shaft that begins with a bar runs along the column first; a long one is drawn dashed.
 */
export function readPicture(text: string): Picture {
  const [title = '', description = '', ...lines] = text.split('\n').filter((line) => line.trim() !== '');
  const boxes = new Map<string, Box>();
  const arrows: Arrow[] = [];
  for (const line of lines) {
    const arrow = /^([a-z]\d+) (\|?--?>) ([a-z]\d+)(?: : (.+))?$/.exec(line);
    const box = /^([a-z])(\d+) (\w+) (.+)$/.exec(line);
    if (arrow) {
      const [, from = '', shaft = '', to = '', label = ''] = arrow;
      arrows.push({
        ...{ from: find(boxes, from, line), to: find(boxes, to, line), label },
        dashed: shaft.endsWith('-->'),
        bend: shaft.startsWith('|') ? 'first' : 'last',
      });
    } else if (box) {
      const [, letter = '', number, word, rest = ''] = box;
      const kind = kinds.find((known) => known === word);
      if (!kind) throw new Error(`${word} is not a kind of box: ${line}`);
      const [name = '', ...notes] = rest.split(' | ');
      const [column, row] = [letter.charCodeAt(0) - 97, Number(number) - 1];
      boxes.set(letter + number, { cell: letter + number, column, row, kind, name, notes });
    } else throw new Error(`neither a box nor an arrow: ${line}`);
  }
  return { title, description, boxes: [...boxes.values()], arrows };
}

function find(boxes: ReadonlyMap<string, Box>, cell: string, line: string): Box {
  const box = boxes.get(cell);
  if (!box) throw new Error(`there is no box ${cell} yet: ${line}`);
  return box;
}
