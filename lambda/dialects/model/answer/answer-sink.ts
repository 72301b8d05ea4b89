import type { Piece } from '../../../json/pieces.ts';
import { createScanner } from '../../../json/scan.ts';

/** A JSON string as it is spelt, with its quotes. Texts are handed on like this, so that they need not be decoded. */
export type Literal = string;

/** What a text is: what the model thinks, the answer, or what it says instead of one. */
export type TextKind = 'reasoning' | 'text' | 'refusal';

/** Why an answer ends. */
export type Finish = 'done' | 'length' | 'filtered';

/** A call of a tool, as far as it has come. */
export interface ToolCall {
  /** As the upstream named it; empty if it did not. */
  readonly id: string;
  /** The tool's name upstream. */
  readonly name: string;
  readonly arguments: CallArguments;
}

/**
 * What an answer consists of, in the order in which it comes, whether whole or in pieces. The reader of one dialect calls
 * it, the writer of another is one. What no answer may say, a reader throws.
 */
export interface AnswerSink {
  /** The answer begins. Told once, before everything else. */
  begin(): void;
  /** A piece of a text, and the JSON array of its token probabilities, if there is one. */
  text(kind: TextKind, text: Literal, logprobs?: string): void;
  /** A thought is whole that its maker signed, or that only its maker can read. `hasSaid`: after a text, which may still be held back. */
  reasoningEnd(hasSaid: boolean): void;
  /** A tool is called. Its arguments follow. */
  call(call: ToolCall): void;
  /** A piece of a call's arguments, which has been added to them. */
  callArguments(call: ToolCall, text: Literal): void;
  /** The model is through, and why; perhaps the caller's own text at which it stopped. Returns the whole answer. */
  finish(finish: Finish, stop?: string): readonly Piece[];
}

/** In characters. An answer is kept until its end, where some dialects repeat it, and no model writes a longer one. */
const longestAnswer = 32 * 1024 * 1024;
/** No honest answer calls so many tools. */
export const mostCalls = 10_000;

/** What only an upstream can do wrong, whatever it is asked. A caller pays nothing for it. */
export class UpstreamFault extends Error {}

/** Counts what an answer consists of. Throws if it is too long. */
export function createLengthCount(): (text: Literal) => void {
  let length = 0;
  return (text) => {
    length += text.length;
    if (length > longestAnswer) throw new RangeError(`the answer is longer than ${longestAnswer} characters`);
  };
}

const mostPieces = 256;

/** Pieces of one text. Joined now and then, or each would keep in memory all the text that it was cut from. */
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

/** The arguments of a call: a text that is JSON, or is to become JSON. */
export function createCallArguments() {
  const whole = createGrowingText();
  let decoded: string | undefined; // once it was asked for
  let first = ''; // of its characters that are not white space
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
    /** Whether nothing but white space has come yet. */
    get isEmpty(): boolean {
      return first === '';
    },
    /** The text that the literal spells. */
    get text(): string {
      decoded ??= decode(whole.literal);
      return decoded;
    },
    /** Whether an object has begun. Some models send other things. */
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
    /** Whether every bracket is closed again: most likely no more will come. */
    get isClosed(): boolean {
      return (first === '{' || first === '[') && depth <= 0 && !inString;
    },
  };
}

/** The text that a literal spells. */
export function decode(text: Literal): string {
  return text.includes('\\') ? JSON.parse(text) : text.slice(1, -1);
}
