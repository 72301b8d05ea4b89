import type { Literal } from './facts.ts';

/** The events of a response: each has a type, and a number that counts them. */
export interface ResponseEvents {
  /** Writes an event with these members, given as JSON. */
  write(type: string, members: string): void;
  /** Prepares an event that will be written for every piece of a text. It costs little more than its piece. */
  prepareDelta(type: string, members: string): (text: Literal, rest?: string) => void;
  take(): string;
  readonly nextSequence: number;
}

const number = ',"sequence_number":';

/** `live`: whether anyone reads them. */
export function createResponseEvents(live: boolean): ResponseEvents {
  let out = '';
  let sequence = 0;
  const begin = (type: string, members: string): string => `event: ${type}\ndata: {"type":"${type}",${members}`;
  // At the end, as it costs the least there: what stands before a text is the same for all its pieces.
  const end = (): string => `${sequence++}}\n\n`;

  return {
    write(type, members) {
      if (live) out += `${begin(type, members)}${number}${end()}`;
    },
    prepareDelta(type, members) {
      // Joined, as V8 would put a template together anew with each event.
      const head = [begin(type, members), ',"delta":'].join('');
      return (text, rest = '') => {
        if (live) out += head + text + rest + number + end();
      };
    },
    take() {
      const written = out;
      out = '';
      return written;
    },
    get nextSequence() {
      return sequence;
    },
  };
}
