import type { Cooperative } from '../json/cooperative.ts';
import type { Json, Node } from '../json/scan.ts';
import { type ContextError, contextErrors, isContextError } from './answer/context-error.ts';
import { echoOf } from './answer/echo-responses.ts';
import { createMessagesWriter } from './answer/write-messages.ts';
import { createResponsesWriter } from './answer/write-responses.ts';
import type { AnswerWriter, Writing } from './answer/writer.ts';
import type { Asking } from './request/asking.ts';
import { readMessages } from './request/read-messages.ts';
import { readResponses } from './request/read-responses.ts';
import { type Translated, writeChat } from './request/write-chat.ts';
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
  readonly read: typeof readMessages;
  /** Reads what of a request its answer depends on. */
  readonly prepare: (
    json: Json,
    leftOut: ReadonlySet<Node>,
    thoughts: Asking['thoughts'],
  ) => (writing: Writing) => AnswerWriter;
  readonly wordContextError: (message: string) => ContextError;
}

/** Those whose requests are translated, by name. */
const clients: Readonly<Record<string, ClientDialect>> = {
  responses: {
    read: readResponses,
    prepare(json, leftOut, { sealed: wantsSeal }) {
      const echo = echoOf(json, leftOut);
      return (writing) => createResponsesWriter({ ...writing, echo, wantsSeal });
    },
    wordContextError: contextErrors.responses,
  },
  messages: {
    read: readMessages,
    prepare(_json, _leftOut, { shown: showsThoughts }) {
      return (writing) => createMessagesWriter({ ...writing, showsThoughts });
    },
    wordContextError: contextErrors.messages,
  },
};

/** Whether requests of a dialect can be translated to chat. */
export const isTranslatable = (dialect: string): boolean => Object.hasOwn(clients, dialect);

function clientOf(dialect: string): ClientDialect {
  const client = clients[dialect];
  if (client === undefined) throw new TypeError(`requests of ${dialect} can't be translated`);
  return client;
}

/** Whom a request is translated for. */
export interface Target {
  readonly upstream: ChatUpstream;
  /** What the upstream calls the model. */
  readonly model: string;
}

/** Translates a request to chat, and says how its answer is translated back. Throws a 400 for what can't be carried over. */
export function* translate(dialect: string, json: Json, seals: Seals, target: Target): Cooperative<Translation> {
  const { prepare, wordContextError } = clientOf(dialect);
  const { pieces, leftOut, leftOutNodes, tools, thoughts } = yield* translateRequest(dialect, json, seals, target);
  const open = prepare(json, leftOutNodes, thoughts);
  const seal = (thought: string): string | undefined => {
    const sealed = seals.seal(dialect, thought);
    return sealed.length <= longestSeal ? sealed : undefined;
  };
  const answer: AnswerTranslation = {
    leftOut,
    createWriter: (parts) => open({ ...parts, tools, seal }),
    explainContext: (body, message) => (isContextError(body) ? wordContextError(message) : undefined),
  };
  return { pieces, answer };
}

/** Translates a request to chat. Throws a 400 for what can't be carried over. */
export function* translateRequest(
  dialect: string,
  body: Json,
  seals: Pick<Seals, 'open'>,
  { upstream, model }: Target,
): Cooperative<Translated & Pick<Asking, 'thoughts'>> {
  const asking = yield* clientOf(dialect).read(body, (sealed) => seals.open(dialect, sealed));
  return { ...(yield* writeChat(asking, upstream, model)), thoughts: asking.thoughts };
}
