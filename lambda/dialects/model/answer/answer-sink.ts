import type { Piece } from '../../../json/pieces.ts';
import { createScanner } from '../../../json/scan.ts';

/** A JSON string as it is spelled, with its quotes. Texts are passed on in this form, so that they need not be decoded. */
export type Literal = string;

export type TextKind = 'reasoning' | 'text' | 'refusal';

/** Why an answer ends. */
export type Finish = 'done' | 'length' | 'filtered';

/** A tool call, as far as it has arrived. */
export interface ToolCall {
  /** The upstream's id; empty if it has none. */
  readonly id: string;
  /** The tool's name upstream. */
  readonly name: string;
  readonly arguments: CallArguments;
}

/**
 * Receives the parts of an answer in order of arrival, whether it is plain or streamed. The reader of one dialect calls it; the writer of
 * another implements it. Readers throw on anything that is not valid in an answer.
 */
export interface AnswerSink {
  /** Called once, before everything else. */
  begin(): void;
  /** A piece of a text, and the JSON array of its token probabilities, if there is one. */
  text(kind: TextKind, text: Literal, logprobs?: string): void;
  /** A signed or encrypted reasoning block is complete. `hasSaid`: it comes after a text, which may still be held back. */
  reasoningEnd(hasSaid: boolean): void;
  /** A tool call begins. Its arguments follow. */
  call(call: ToolCall): void;
  /** A piece of a call's arguments, which `call` already holds. */
  callArguments(call: ToolCall, text: Literal): void;
  /** The answer is complete. `stop`: the caller's stop sequence at which the model stopped. Returns the whole answer. */
  finish(finish: Finish, stop?: string): readonly Piece[];
}

/** In characters. An answer is buffered until its end, where some dialects repeat it. No model writes a longer one. */
const longestAnswer = 32 * 1024 * 1024;
/** No honest answer has more tool calls. */
export const mostCalls = 10_000;

/** A fault that only an upstream can cause, whatever the request. The caller is not charged. */
export class UpstreamFault extends Error {}

/** Adds up the length of an answer. Throws if it is too long. */
export function createLengthCount(): (text: Literal) => void {
  let length = 0;
  return (text) => {
    length += text.length;
    if (length > longestAnswer) throw new RangeError(`the answer is longer than ${longestAnswer} characters`);
  };
}

const mostPieces = 256;

/** A text that arrives in pieces. They are joined from time to time: each is a slice that retains the string it was cut from. */
export function createGrowingText() {
  let joined = '';
  let pieces: string[] = [];
  const join = (): void => {
    joined += pieces.join('');
    pieces = [];
  };
  return {
    add(text: Literal): void {
      if (pieces.push(text.slice(1, -1)) === mostPieces) join();
    },
    /** Everything so far, as one literal. */
    get literal(): Literal {
      join();
      return `"${joined}"`;
    },
  };
}

type CallArguments = ReturnType<typeof createCallArguments>;

/** The arguments of a call: JSON, once they are complete. */
export function createCallArguments() {
  const whole = createGrowingText();
  let decoded: string | undefined; // cached
  let first = ''; // the first character that is not white space
  let depth = 0;
  let inString = false;
  let escaped = false;

  const count = (character: string): void => {
    if (escaped) escaped = false;
    else if (inString) {
      if (character === '"') inString = false;
      escaped = character === '\\';
    } else if (character === '"') inString = true;
    else if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') depth -= 1;
  };

  return {
    add(literal: Literal): void {
      whole.add(literal);
      decoded = undefined;
      const text = decode(literal);
      first ||= text.trimStart().charAt(0);
      for (let at = 0; at < text.length; at += 1) count(text.charAt(at));
    },
    get literal(): Literal {
      return whole.literal;
    },
    /** Whether only white space has arrived yet. */
    get isEmpty(): boolean {
      return first === '';
    },
    /** The decoded text. */
    get text(): string {
      decoded ??= decode(whole.literal);
      return decoded;
    },
    /** Whether the arguments begin as an object. Some models send something else. */
    get isObject(): boolean {
      return first === '{';
    },
    get isJson(): boolean {
      try {
        createScanner().scan(this.text);
        return true;
      } catch {
        return false;
      }
    },
    /** Whether every bracket is closed, so that most likely no more will arrive. */
    get isClosed(): boolean {
      return (first === '{' || first === '[') && depth <= 0 && !inString;
    },
  };
}

/** The text of a literal. */
export function decode(text: Literal): string {
  return text.includes('\\') ? JSON.parse(text) : text.slice(1, -1);
}
