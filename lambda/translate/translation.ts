import type { Cooperative } from '../json/cooperative.ts';
import type { Json } from '../json/scan.ts';
import type { AnswerOptions, AnswerWriter } from './answer/answer-writer.ts';
import { type ContextError, isContextError } from './answer/context-error.ts';
import { writeChat } from './chat/write-request.ts';
import { readMessages } from './messages/read-request.ts';
import { createMessagesWriter } from './messages/write-answer.ts';
import type { ChatUpstream } from './request/request-writer.ts';
import { echoOf } from './responses/echo-request.ts';
import { readResponses } from './responses/read-request.ts';
import { createResponsesWriter } from './responses/write-answer.ts';
import { longestSeal, type Seals } from './seal.ts';

/** A request in the words of an upstream that does not speak the client's dialect. */
interface Translation {
  /** The body's text. */
  readonly pieces: readonly string[];
  readonly answer: AnswerTranslation;
}

/** How the answer becomes one for the client. It keeps nothing of the request but what the answer repeats. */
export interface AnswerTranslation {
  /** The size of that. */
  readonly keptBytes: number;
  /** The places of what the upstream was not told, as a header names them; undefined if there are none. */
  readonly leftOut: string | undefined;
  /** The same without names of the caller's own. */
  readonly leftOutForLog: string | undefined;
  createWriter(parts: Pick<AnswerOptions, 'live' | 'model' | 'usage' | 'now' | 'newHex' | 'takeThought'>): AnswerWriter;
  /** What the client is told of an error body, if it says that the request is too long for the model. */
  explainContext(body: string, message: string): ContextError | undefined;
}

interface ClientDialect {
  readonly read: typeof readMessages;
  readonly createWriter: (options: AnswerOptions) => AnswerWriter;
  /** Reads what of a request its answer repeats, if it does. */
  readonly echo?: typeof echoOf;
  /** What its clients are told of a request that is too long. `message` is what may be shown of the upstream's own. */
  readonly wordContextError: (message: string) => ContextError;
}

/** Those whose requests are translated, by name. */
const clients: Readonly<Record<string, ClientDialect>> = {
  responses: {
    ...{ read: readResponses, createWriter: createResponsesWriter, echo: echoOf },
    wordContextError: (message) => ({ message, shownCode: 'context_length_exceeded' }),
  },
  messages: {
    ...{ read: readMessages, createWriter: createMessagesWriter },
    wordContextError: (message) => ({
      message: /^prompt is too long/.test(message) ? message : `prompt is too long: ${message || 'shorten it'}`,
    }),
  },
};

/** Whether requests of a dialect can be translated to chat. */
export const isTranslatable = (dialect: string): boolean => Object.hasOwn(clients, dialect);

/**
 * Translates a request to chat, for an upstream that calls the model by this id, and says how its answer is translated back. Throws a
 * 400 for what can't be carried over.
 */
export function* translate(
  dialect: string,
  json: Json,
  seals: Seals,
  { upstream, model }: { readonly upstream: ChatUpstream; readonly model: string },
): Cooperative<Translation> {
  const client = clients[dialect];
  if (client === undefined) throw new TypeError(`requests of ${dialect} can't be translated`);
  const request = yield* client.read(json, (sealed) => seals.open(dialect, sealed));
  const { pieces, leftOut, leftOutForLog, leftOutNodes, tools } = yield* writeChat(request, upstream, model);
  const { thoughts } = request;
  const echo = client.echo ? yield* client.echo(json, leftOutNodes) : [];
  const seal = (thought: string): string | undefined => {
    const sealed = seals.seal(dialect, thought);
    return sealed.length <= longestSeal ? sealed : undefined;
  };
  const answer: AnswerTranslation = {
    ...{ leftOut, leftOutForLog, keptBytes: echo.reduce((total, { length }) => total + length, 0) },
    createWriter: (parts) => client.createWriter({ ...parts, tools, thoughts, echo, seal }),
    explainContext: (body, message) => (isContextError(body) ? client.wordContextError(message) : undefined),
  };
  return { pieces, answer };
}
