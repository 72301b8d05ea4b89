import type { Cooperative } from '../json/cooperative.ts';
import type { Json } from '../json/scan.ts';
import {
  type ContextError,
  contextErrors,
  explainContextError,
  type WordContextError,
} from './answer/context-error.ts';
import { echoOf } from './answer/echo-responses.ts';
import { createMessagesWriter } from './answer/write-messages.ts';
import { createResponsesWriter } from './answer/write-responses.ts';
import type { AnswerWriter, Writing } from './answer/writer.ts';
import type { Asking } from './request/asking.ts';
import { readMessages } from './request/read-messages.ts';
import { readResponses } from './request/read-responses.ts';
import { renderLeftOut, type Translated, writeChat } from './request/write-chat.ts';
import type { ChatUpstream } from './request/writing.ts';
import { longestSeal, type Seals } from './seal.ts';

/** A request in the words of an upstream that does not speak the client's dialect. */
export interface Translation {
  /** The body's text. */
  readonly pieces: readonly string[];
  readonly answer: AnswerTranslation;
}

/** How the answer becomes one for the client. It keeps nothing of the request but what the answer repeats. */
export interface AnswerTranslation {
  /** The places of what the upstream was not told, as a header names them; undefined if there are none. */
  readonly leftOut: string | undefined;
  createWriter(parts: Omit<Writing, 'tools' | 'seal'>): AnswerWriter;
  /** What the client is told of an error body, if it says that the request is too long for the model. */
  explainContext(body: string, message: string): ContextError | undefined;
}

interface ClientDialect {
  /** Reads what of a request its answer depends on. */
  readonly prepare: (json: Json, asked: Asked) => (writing: Writing) => AnswerWriter;
  readonly wordContextError: WordContextError;
}

type Asked = Pick<Translated, 'leftOutNodes'> & Pick<Asking, 'thoughts'>;

/** Those whose requests are translated, by name. */
const clients: Readonly<Record<string, ClientDialect>> = {
  responses: {
    prepare: (json, { leftOutNodes, thoughts: { sealed: wantsSeal } }) => {
      const echo = echoOf(json, leftOutNodes);
      return (writing) => createResponsesWriter({ ...writing, echo, wantsSeal });
    },
    wordContextError: contextErrors.responses,
  },
  messages: {
    prepare:
      (_json, { thoughts: { shown: showsThoughts } }) =>
      (writing) =>
        createMessagesWriter({ ...writing, showsThoughts }),
    wordContextError: contextErrors.messages,
  },
};

/** Translates a request to chat, and says how its answer is translated back. Throws a 400 for what can't be carried over. */
export function* translate(dialect: string, json: Json, seals: Seals, target: Target): Cooperative<Translation> {
  const { pieces, leftOut, leftOutNodes, tools, thoughts } = yield* translateRequest(dialect, json, seals, target);
  const client = clients[dialect];
  if (client === undefined) throw new TypeError(`answers can't be translated for ${dialect}`);
  const open = client.prepare(json, { leftOutNodes, thoughts });
  const seal = (thought: string): string | undefined => {
    const sealed = seals.seal(dialect, thought);
    return sealed.length <= longestSeal ? sealed : undefined;
  };
  const { wordContextError } = client;
  const answer: AnswerTranslation = {
    leftOut: renderLeftOut(leftOut),
    createWriter: (parts) => open({ ...parts, tools, seal }),
    explainContext: (body, message) => explainContextError(body, message, wordContextError),
  };
  return { pieces, answer };
}

/** The readers of requests, by dialect. */
const readers: Readonly<Record<string, typeof readMessages>> = { responses: readResponses, messages: readMessages };

/** Whom a request is translated for. */
export interface Target {
  readonly upstream: ChatUpstream;
  /** What the upstream calls the model. */
  readonly model: string;
}

/** Whether requests of a dialect can be translated to chat. */
export const isTranslatable = (dialect: string): boolean => Object.hasOwn(readers, dialect);

/** Translates a request of a dialect to chat. Throws a 400 for what can't be carried over. */
export function* translateRequest(
  dialect: string,
  body: Json,
  seals: Pick<Seals, 'open'>,
  { upstream, model }: Target,
): Cooperative<Translated & Pick<Asking, 'thoughts'>> {
  const read = readers[dialect];
  if (read === undefined) throw new TypeError(`requests of ${dialect} can't be translated`);
  const asking = yield* read(body, (sealed) => seals.open(dialect, sealed));
  const translated = yield* writeChat(asking, upstream, model);
  return { ...translated, thoughts: asking.thoughts };
}
