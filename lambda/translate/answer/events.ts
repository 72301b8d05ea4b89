import type { Literal } from './facts.ts';

export type Events = ReturnType<typeof createEvents>;

/** The events of an answer, in wire form. `live`: whether anyone reads them. `numbered`: whether each says how many were before. */
export function createEvents({ live, numbered }: { readonly live: boolean; readonly numbered: boolean }) {
  let out = '';
  let sequence = 0;
  const begin = (type: string, members: string): string =>
    `event: ${type}\ndata: {"type":"${type}"${members && `,${members}`}`;
  // At the end, as it costs the least there: what stands before a text is the same for all its pieces.
  const end = (): string => (numbered ? `,"sequence_number":${sequence++}}\n\n` : '}\n\n');

  return {
    /** Writes an event with these members, given as JSON. */
    write(type: string, members = ''): void {
      if (live) out += begin(type, members) + end();
    },
    /** Prepares an event that will be written for every piece of a text. It costs little more than its piece. */
    prepare(type: string, before: string) {
      // Joined, as V8 would put a template together anew with each event.
      const head = [begin(type, before), ''].join('');
      return (text: Literal, after: string): void => {
        if (live) out += head + text + after + end();
      };
    },
    take(): string {
      const written = out;
      out = '';
      return written;
    },
    get nextSequence() {
      return sequence;
    },
  };
}
