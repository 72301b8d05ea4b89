import { createHash } from 'node:crypto';
import type { JsonObject } from './json.ts';
import type { Prompt } from './prompt.ts';
import type { ServerEvent } from './script.ts';

/** What a model says, in no dialect yet. */
export interface Answer {
  readonly parts: readonly Part[];
  readonly end: 'stop' | 'length' | 'calls';
  /** The stop sequence that ended the text. */
  readonly stopSequence?: string | null;
  readonly usage: { readonly input: number; readonly output: number; readonly reasoning: number };
}

/** A text or a tool call. */
export interface Part {
  /** `text`, `reasoning`, `call`, or another kind of text that the dialect has. */
  readonly kind: string;
  /** The text, or a call's arguments in JSON, in the pieces that a stream sends. */
  readonly pieces: readonly string[];
  /** The name of a called tool. */
  readonly tool?: string;
  /** Where a request asked for several answers: whose part it is. */
  readonly choice?: number;
}

export const wholeOf = ({ pieces }: Part): string => pieces.join('');

/** An answer on its way out. */
export interface Reply {
  readonly answer: Answer;
  /** The request, parts of which an answer repeats. */
  readonly body: JsonObject;
  readonly model: string;
  /** What all ids end in. */
  readonly id: string;
  /** In seconds since 1970. */
  readonly created: number;
  /** What its maker adds to every answer, chunk and response. */
  readonly marks?: JsonObject;
}

/** How one dialect is spoken by an upstream: what stands on the wire. */
export interface Speaker {
  /** The kinds of text that it has. */
  readonly kinds: readonly string[];
  read(body: JsonObject): Prompt;
  /** The answer in one piece. */
  whole(reply: Reply): JsonObject;
  /** The answer as a stream. What streams side by side (choices, items, blocks) may be interleaved. */
  events(reply: Reply, interleave?: Interleave): ServerEvent[];
  error(status: number, message: string): JsonObject;
  /** The conversation in a short form that only the model can read, where the dialect has that. */
  compact?(reply: Reply): JsonObject;
  /** What a count of tokens calls itself, where it does. */
  readonly countObject?: string;
}

type Interleave = <T>(runs: readonly (readonly T[])[]) => readonly T[];
export const inTurn: Interleave = (runs) => runs.flat();

/** A request that cannot be answered. */
export class BadRequest extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = 'BadRequest';
    this.status = status;
  }
}

/** Content that only its maker could read: a signature, or encrypted reasoning. */
export const sealText = (text: string): string => createHash('sha512').update(`sealed ${text}`).digest('base64');

const codes: Readonly<Record<number, string>> = { 401: 'invalid_api_key', 404: 'model_not_found' };

/** The error body that the two OpenAI dialects share. */
export const openAiError: Speaker['error'] = (status, message) => ({
  error: {
    message,
    param: null,
    code: codes[status] ?? null,
    type: status < 500 ? 'invalid_request_error' : 'server_error',
  },
});
