import type { Piece } from '../../../json/pieces.ts';
import type { TokenCounts } from '../findings.ts';
import type { ModelRequest } from '../request/model-request.ts';
import type { ToolNames } from '../tools.ts';
import type { AnswerSink, Literal, ToolCall } from './answer-sink.ts';

/** Writes an answer in the client's dialect. */
export interface AnswerWriter extends AnswerSink {
  readonly events: Events;
}

/** What a writer needs besides the answer. */
export interface AnswerOptions {
  /** Whether to write events, each as early as possible, or only the whole answer. */
  readonly live: boolean;
  /** The model's public name. */
  readonly model: string;
  readonly tools: ToolNames;
  readonly reasoning: ModelRequest['reasoning'];
  /** The members of the request that the answer repeats, as JSON without the braces, on one line. */
  readonly echo: readonly Uint8Array[];
  /** Whether a stream ends with its usage, in dialects where that is optional. */
  readonly streamUsage: boolean;
  /** The upstream's counts so far. */
  readonly usage: TokenCounts;
  /** In milliseconds. */
  readonly now: () => number;
  /** 32 random hexadecimal digits. */
  readonly newHex: () => string;
  /** The reasoning since the last call, as the upstream sent it. */
  readonly takeReasoning: () => Literal;
  /** Encrypts reasoning, so that only this gateway can read it; undefined if it is too long to be sent back. */
  readonly seal: (reasoningBlock: string) => string | undefined;
}

export type Events = ReturnType<typeof createEvents>;

/** The type stands twice, as some clients read the `event` line and others the data. */
const typed = (type: string): string => `event: ${type}\ndata: {"type":"${type}"`;

interface EventForm {
  /** Whether the client asked for events. */
  readonly live: boolean;
  /** Whether events have sequence numbers. */
  readonly numbered: boolean;
  /** The beginning of an event, up to its second member. */
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
  // The number comes last, so that everything before a text is the same for all its deltas, and prepared only once.
  const end = (): string => (numbered ? `,"sequence_number":${sequence++}}\n\n` : '}\n\n');

  return {
    /** Writes an event with these members: JSON, as text or bytes. */
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
    /** Prepares an event that is written for every delta of a text, so that each costs little more than its text. */
    prepare(type: string, before: string) {
      // join() makes a flat string. V8 would put the parts of a template together again for each event.
      const head = [begin(type), ',', before].join('');
      return (text: Literal, after: string): void => {
        if (live) out += head + text + after + end();
      };
    },
    /** Writes an event that is already in wire form. */
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

/** Token counts that are valid in every dialect: the parts never add up to more than the whole. */
export function countTokens({ input = 0, cacheRead = 0, cacheWrite = 0, output = 0, reasoning = 0 }: TokenCounts) {
  const read = Math.min(cacheRead, input);
  const written = Math.min(cacheWrite, input - read);
  return { input, read, written, output, reasoning: Math.min(reasoning, output) };
}

/** Gives each call a unique id: the upstream's, unless that is empty or already used. */
export function createCallIds(prefix: string, newHex: () => string): (call: ToolCall) => string {
  const given = new Set<string>();
  return ({ id }) => {
    const own = id === '' || given.has(id) ? `${prefix}${newHex()}` : id;
    given.add(own);
    return own;
  };
}
