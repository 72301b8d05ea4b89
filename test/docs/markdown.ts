/** A fenced block, and whether nothing but white space stands between it and the block before. */
export interface CodeBlock {
  readonly language: string;
  readonly code: string;
  /** The last heading above it. */
  readonly heading: string;
  readonly follows: CodeBlock | undefined;
}

const fence = /^```(\w*)\n(.*?)^```$/gms;

/** The fenced blocks of a Markdown page, in order. */
export function readBlocks(page: string): CodeBlock[] {
  const blocks: CodeBlock[] = [];
  let end = 0;
  for (const { 0: whole, 1: language = '', 2: code = '', index } of page.matchAll(fence)) {
    const between = page.slice(end, index);
    const heading = readHeadings(page.slice(0, index)).at(-1) ?? '';
    blocks.push({ language, code, heading, follows: between.trim() === '' ? blocks.at(-1) : undefined });
    end = index + whole.length;
  }
  return blocks;
}

/** The text around the fenced blocks. */
export function readProse(page: string): string {
  return page.replace(fence, '');
}

function readHeadings(page: string): string[] {
  return [...readProse(page).matchAll(/^#+ (.*)$/gm)].map(([, text = '']) => text);
}

/** What a link to a heading ends in. */
export function toAnchor(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');
}

/** The anchors of a page. A heading's code is set without its quotes, a link in it as its words; a repeated one is numbered. */
export function anchorsIn(page: string): string[] {
  const seen = new Map<string, number>();
  return readHeadings(page).map((heading) => {
    const anchor = toAnchor(heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1'));
    const count = seen.get(anchor) ?? 0;
    seen.set(anchor, count + 1);
    return count === 0 ? anchor : `${anchor}-${count}`;
  });
}

/** The targets of all links. */
export function readLinks(page: string): string[] {
  return [...readProse(page).matchAll(/\]\(([^)]+)\)/g)].map(([, target = '']) => target);
}

/** The rows of every table as arrays of cells, without the row of dashes; the first row is the head. */
export function readTables(page: string): string[][][] {
  return [...readProse(page).matchAll(/(?:^\|.*\|$\n?)+/gm)].map(([table]) =>
    table
      .trim()
      .split('\n')
      .map((line) => line.slice(1, -1).split('|'))
      .map((cells) => cells.map((cell) => cell.trim()))
      .filter((cells) => !cells.every((cell) => /^:?-+:?$/.test(cell))),
  );
}
