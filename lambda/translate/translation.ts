import type { Cooperative } from '../json/cooperative.ts';
import type { Json } from '../json/scan.ts';
import type { AnswerDialect } from './answer/answer-reader.ts';
import type { AnswerOptions, AnswerWriter } from './answer/answer-writer.ts';
import { type ContextError, isContextError } from './answer/context-error.ts';
import { chatAnswers } from './chat/read-answer.ts';
import { readChat } from './chat/read-request.ts';
import { createChatWriter } from './chat/write-answer.ts';
import { writeChatRequest } from './chat/write-request.ts';
import { messagesAnswers } from './messages/read-answer.ts';
import { readMessages } from './messages/read-request.ts';
import { createMessagesWriter } from './messages/write-answer.ts';
import { writeMessagesRequest } from './messages/write-request.ts';
import type { LeftOut } from './request/left-out.ts';
import type { UpstreamOptions } from './request/request-writer.ts';
import { echoOf } from './responses/echo-request.ts';
import { readResponses } from './responses/read-request.ts';
import { createResponsesWriter } from './responses/write-answer.ts';
import { longestSeal, type Seals } from './seal.ts';
import { sizeOf } from './tools.ts';

/** A request in the words of an upstream that does not speak the client's dialect. */
interface Translation extends LeftOut {
  /** The body's text. */
  readonly pieces: readonly string[];
  /** What the request must say besides. */
  readonly headers: Readonly<Record<string, string>>;
  readonly answer: AnswerTranslation;
}

/** How the answer becomes one for the client. It keeps nothing of the request but what the answer repeats, and names of tools. */
export interface AnswerTranslation {
  /** The size of that. */
  readonly keptBytes: number;
  /** How the upstream's answer is read. */
  readonly upstreamAnswer: AnswerDialect;
  /** Whether the client reads the texts around thoughts as one. */
  readonly joinsTexts: boolean;
  createWriter(parts: Pick<AnswerOptions, 'live' | 'model' | 'usage' | 'now' | 'newHex' | 'takeThought'>): AnswerWriter;
  /** What the client is told of an error body, if it says that the request is too long for the model. */
  explainContext(body: string, message: string): ContextError | undefined;
}

interface ClientDialect {
  readonly read: typeof readMessages;
  readonly createWriter: (options: AnswerOptions) => AnswerWriter;
  readonly joinsTexts?: true;
  /** Reads what of a request its answer repeats, if it does. */
  readonly echo?: typeof echoOf;
  /** What its clients are told of a request that is too long. `message` is what may be shown of the upstream's own. */
  readonly wordContextError: (message: string) => ContextError;
}

const openAiContextError = (message: string): ContextError => ({ message, shownCode: 'context_length_exceeded' });

/** Those whose requests are translated, by name. */
const clients: Readonly<Record<string, ClientDialect>> = {
  chat: { read: readChat, createWriter: createChatWriter, joinsTexts: true, wordContextError: openAiContextError },
  responses: {
    ...{ read: readResponses, createWriter: createResponsesWriter, echo: echoOf },
    wordContextError: openAiContextError,
  },
  messages: {
    ...{ read: readMessages, createWriter: createMessagesWriter },
    wordContextError: (message) => ({
      message: /^prompt is too long/.test(message) ? message : `prompt is too long: ${message || 'shorten it'}`,
    }),
  },
};

interface UpstreamDialect extends Pick<Translation, 'headers'> {
  readonly write: typeof writeChatRequest;
  readonly answers: AnswerDialect;
}

/** Those into which requests are translated, by name. */
const upstreams: Readonly<Record<string, UpstreamDialect>> = {
  chat: { write: writeChatRequest, answers: chatAnswers, headers: {} },
  messages: {
    ...{ write: writeMessagesRequest, answers: messagesAnswers },
    headers: { 'anthropic-version': '2023-06-01' },
  },
};

interface Into {
  readonly dialect: string;
  readonly upstream: UpstreamOptions;
  readonly model: string;
  /** Whether the upstream is only to count the tokens. */
  readonly isCounted?: boolean;
}

/**
 * Translates a request for an upstream that calls the model by this id, and says how its answer is translated back. Throws a 400 for
 * what can't be carried over.
 */
export function* translate(dialect: string, json: Json, seals: Seals, into: Into): Cooperative<Translation> {
  const [client, target] = [clients[dialect], upstreams[into.dialect]];
  if (!client || !target) throw new TypeError(`requests of ${dialect} can't be translated into ${into.dialect}`);
  const { write, answers, headers } = target;
  const read = yield* client.read(json, (sealed) => seals.open(dialect, sealed));
  const request = { ...read, isCounted: into.isCounted === true };
  const { pieces, leftOut, leftOutForLog, leftOutNodes, tools } = yield* write(request, into.upstream, into.model);
  const { thoughts, streamUsage = false } = request;
  const echo = client.echo ? yield* client.echo(json, leftOutNodes) : [];
  const seal = (thought: string): string | undefined => {
    if (thought.length > longestSeal) return undefined;
    const sealed = seals.seal(dialect, thought);
    return sealed.length <= longestSeal ? sealed : undefined;
  };
  const answer: AnswerTranslation = {
    keptBytes: echo.reduce((total, { length }) => total + length, sizeOf(tools)),
    upstreamAnswer: answers,
    joinsTexts: client.joinsTexts ?? false,
    createWriter: (parts) => client.createWriter({ ...parts, tools, thoughts, streamUsage, echo, seal }),
    explainContext: (body, message) => (isContextError(body) ? client.wordContextError(message) : undefined),
  };
  return { pieces, headers, answer, leftOut, leftOutForLog };
}
