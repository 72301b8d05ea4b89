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

/** `live`: whether anyone reads them. */
export function createResponseEvents(live: boolean): ResponseEvents {
  let out = '';
  let sequence = 0;
  const begin = (type: string): string => `event: ${type}\ndata: {"type":"${type}","sequence_number":`;

  return {
    write(type, members) {
      if (!live) return;
      out += `${begin(type)}${sequence},${members}}\n\n`;
      sequence += 1;
    },
    prepareDelta(type, members) {
      const head = begin(type);
      const middle = `,${members},"delta":`;
      return (text, rest = '') => {
        if (!live) return;
        out += `${head}${sequence}${middle}${text}${rest}}\n\n`;
        sequence += 1;
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
