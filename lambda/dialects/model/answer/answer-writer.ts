import type { Piece } from '../../../json/pieces.ts';
import type { TokenCounts } from '../findings.ts';
import type { ModelRequest } from '../request/model-request.ts';
import type { ToolNames } from '../tools.ts';
import type { AnswerSink, Literal, ToolCall } from './answer-sink.ts';

/** Writes an answer in the client's dialect, from what it is told. */
export interface AnswerWriter extends AnswerSink {
  readonly events: Events;
}

/** What a writer has to know besides the answer. */
export interface AnswerOptions {
  /** Whether events are written, each as early as possible; otherwise only the whole answer. */
  readonly live: boolean;
  /** The public name of the model. */
  readonly model: string;
  readonly tools: ToolNames;
  readonly reasoning: ModelRequest['reasoning'];
  /** The members of the request that the answer repeats, as JSON without the braces, on one line. */
  readonly echo: readonly Uint8Array[];
  /** Whether a stream is to end with its usage, where that is not a matter of course. */
  readonly streamUsage: boolean;
  /** What the upstream has counted up to now. */
  readonly usage: TokenCounts;
  /** In milliseconds. */
  readonly now: () => number;
  /** 32 random hexadecimal digits. */
  readonly newHex: () => string;
  /** What the model has thought since this was last called, as the upstream sent it. */
  readonly takeReasoning: () => Literal;
  /** Seals a thought, so that only this gateway can read it; undefined if it is too long to come back. */
  readonly seal: (reasoningBlock: string) => string | undefined;
}

export type Events = ReturnType<typeof createEvents>;

/** Each event says its type twice, for readers of both kinds. */
const typed = (type: string): string => `event: ${type}\ndata: {"type":"${type}"`;

interface EventForm {
  /** Whether anyone reads the events. */
  readonly live: boolean;
  /** Whether each says how many were before. */
  readonly numbered: boolean;
  /** How an event of a type begins, up to its second member. */
  readonly begin?: (type: string) => string;
}

/** The events of an answer, in wire form. */
export function createEvents({ live, numbered, begin = typed }: EventForm) {
  const pieces: Piece[] = [];
  let out = '';
  let sequence = 0;
  const flush = (): void => {
    if (out !== '') pieces.push(out);
    out = '';
  };
  // At the end, as it costs the least there: what stands before a text is the same for all its pieces.
  const end = (): string => (numbered ? `,"sequence_number":${sequence++}}\n\n` : '}\n\n');

  return {
    /** Writes an event with these members, given as JSON, in pieces if some of it is bytes. */
    write(type: string, ...members: readonly Piece[]): void {
      if (!live) return;
      out += begin(type);
      if (members.length > 0) out += ',';
      for (const piece of members) {
        if (typeof piece === 'string') out += piece;
        else {
          flush();
          pieces.push(piece);
        }
      }
      out += end();
    },
    /** Prepares an event that will be written for every piece of a text. It costs little more than its piece. */
    prepare(type: string, before: string) {
      // Joined, as V8 would put a template together anew with each event.
      const head = [begin(type), ',', before].join('');
      return (text: Literal, after: string): void => {
        if (live) out += head + text + after + end();
      };
    },
    /** Writes what is given in wire form. */
    pass(written: string): void {
      if (live) out += written;
    },
    take(): readonly Piece[] {
      flush();
      return pieces.splice(0);
    },
    get nextSequence() {
      return sequence;
    },
  };
}

/** Tokens as all dialects can tell them: the parts are never more than the whole. */
export function countTokens({ input = 0, cacheRead = 0, cacheWrite = 0, output = 0, reasoning = 0 }: TokenCounts) {
  const read = Math.min(cacheRead, input);
  const written = Math.min(cacheWrite, input - read);
  return { input, read, written, output, reasoning: Math.min(reasoning, output) };
}

/** Gives each call an id of its own: the upstream's, unless that is empty or was there before. */
export function createCallIds(prefix: string, newHex: () => string): (call: ToolCall) => string {
  const given = new Set<string>();
  return ({ id }) => {
    const own = id === '' || given.has(id) ? `${prefix}${newHex()}` : id;
    given.add(own);
    return own;
  };
}
