/** Describes what is wrong with a text that is not JSON, and where, without quoting it. */
export class JsonFault extends Error {
  readonly offset: number;

  constructor(text: string, offset: number, what: string) {
    const ended = offset < text.length ? '' : ', but the text ends here';
    super(`${place(text, offset)}: ${what}${ended}`);
    this.name = 'JsonFault';
    this.offset = offset;
  }
}

/** A text may be nothing but line ends, which would take long to count. */
const mostLines = 100_000;

function place(text: string, offset: number): string {
  let line = 1;
  let lineStart = 0;
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', lineStart)) {
    line++;
    lineStart = at + 1;
    if (line > mostLines) return `character ${offset + 1}`;
  }
  return `line ${line}, column ${offset - lineStart + 1}`;
}
