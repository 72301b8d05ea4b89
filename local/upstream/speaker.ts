import { createHash } from 'node:crypto';
import type { JsonObject } from './json.ts';
import type { Prompt } from './prompt.ts';
import type { ServerEvent } from './script.ts';

/** A model's answer, independent of dialect. */
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
  /** The text, or a tool call's arguments in JSON, as the chunks of a stream. */
  readonly pieces: readonly string[];
  /** The name of a called tool. */
  readonly tool?: string;
  /** The index of the choice that the part belongs to, if several were requested. */
  readonly choice?: number;
}

export const wholeOf = ({ pieces }: Part): string => pieces.join('');

/** An answer with what is needed to render it. */
export interface Reply {
  readonly answer: Answer;
  /** The request, parts of which an answer repeats. */
  readonly body: JsonObject;
  readonly model: string;
  /** The suffix of all ids. */
  readonly id: string;
  /** In seconds since 1970. */
  readonly created: number;
  /** Fields that the provider adds to every answer, chunk and response. */
  readonly marks?: JsonObject;
}

/** One dialect's wire format, from an upstream's side. */
export interface Speaker {
  /** The kinds of text that the dialect has. */
  readonly kinds: readonly string[];
  read(body: JsonObject): Prompt;
  /** The answer without streaming. */
  whole(reply: Reply): JsonObject;
  /** The answer as a stream. Parallel parts (choices, items, blocks) may be interleaved. */
  events(reply: Reply, interleave?: Interleave): ServerEvent[];
  error(status: number, message: string): JsonObject;
  /** Compacts the conversation into a form that only the model can read, if the dialect supports that. */
  compact?(reply: Reply): JsonObject;
  /** The `object` field of a token count, if it has one. */
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

/** Opaque content, such as a signature or encrypted reasoning. */
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
