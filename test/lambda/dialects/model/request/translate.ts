import { readChat } from '../../../../../lambda/dialects/chat/read-request.ts';
import { writeChatRequest } from '../../../../../lambda/dialects/chat/write-request.ts';
import { readMessages } from '../../../../../lambda/dialects/messages/read-request.ts';
import { writeMessagesRequest } from '../../../../../lambda/dialects/messages/write-request.ts';
import type { UpstreamOptions } from '../../../../../lambda/dialects/model/request/request-writer.ts';
import { createSeals } from '../../../../../lambda/dialects/model/seal.ts';
import { readResponses } from '../../../../../lambda/dialects/responses/read-request.ts';
import { createScanner } from '../../../../../lambda/json/scan.ts';
import { keyOf } from '../../../../../lambda/settings/secrets.ts';

export type ClientDialect = 'responses' | 'messages';

export const sealing = { salt: keyOf('a salt of at least 16 characters'), caller: 'caller' };
export const seals = createSeals(sealing.salt, sealing.caller);

/** An upstream with the default settings. */
export const plainUpstream: UpstreamOptions = {
  limitName: 'max_tokens',
  reasoning: 'none',
  levels: ['low', 'medium', 'high'],
  replay: 'back',
  systemTurns: 'fold',
  toolImages: 'after',
  unknown: 'leave-out',
  streamOptions: 'send',
  cacheMarks: false,
};

// biome-ignore lint/suspicious/noExplicitAny: what is written is checked here
type ChatMessage = any;

interface ChatBody {
  readonly messages: readonly ChatMessage[];
  readonly [name: string]: unknown;
}

/**
 * A chat message on one line: `user: go`, `tool c1: done`, `assistant: null c1=run({})`. Parts are in brackets, as JSON unless they are
 * texts. Other members follow.
 */
function show({ role, content, tool_call_id: id, tool_calls: calls = [], ...rest }: ChatMessage): string {
  const showPart = ({ type, text, ...part }: ChatMessage) =>
    type === 'text' && Object.keys(part).length === 0 ? `[${text}]` : `[${JSON.stringify({ type, ...part })}]`;
  const showCall = ({ id, type, function: { name, arguments: given } }: ChatMessage) =>
    `${id}=${type === 'function' ? '' : type}${name}(${given})`;
  const said = Array.isArray(content) ? content.map(showPart).join('') : String(content);
  const others = Object.entries(rest).map(([name, value]) => `${name}=${value}`);
  return [`${role}${id === undefined ? '' : ` ${id}`}: ${said}`, ...calls.map(showCall), ...others].join(' ');
}

const readers = { chat: readChat, responses: readResponses, messages: readMessages };
const writers = { chat: writeChatRequest, messages: writeMessagesRequest };

/** Translates the text of a request. */
export function translateText(dialect: ClientDialect, text: string, upstream: Partial<UpstreamOptions> = {}) {
  const asking = readers[dialect](createScanner().scan(text), (sealed) => seals.open(dialect, sealed));
  const written = writeChatRequest(asking, { ...plainUpstream, ...upstream }, 'up-model');
  return { ...written, reasoning: asking.reasoning };
}

/** What an upstream of chat gets for a request. */
export function toChat(dialect: ClientDialect, request: unknown, upstream?: Partial<UpstreamOptions>) {
  const text = typeof request === 'string' ? request : JSON.stringify(request);
  const { pieces, leftOut, tools, reasoning } = translateText(dialect, text, upstream);
  const written = pieces.join('');
  const body: ChatBody = JSON.parse(written);
  return { text: written, body, messages: body.messages.map(show), leftOut, tools, reasoning };
}

/** What an upstream that speaks only this dialect gets for a request, and what was left out. */
export function toUpstream(spoken: keyof typeof writers, dialect: keyof typeof readers, request: unknown) {
  const upstream = { ...plainUpstream, limit: 4_096 };
  const json = createScanner().scan(typeof request === 'string' ? request : JSON.stringify(request));
  const asking = readers[dialect](json, (sealed) => seals.open(dialect, sealed));
  const { pieces, leftOut } = writers[spoken](asking, upstream, 'up-model');
  return { text: pieces.join(''), leftOut };
}

/** The error message; undefined if the request is translated. */
export function refusalOf(dialect: ClientDialect, request: unknown, upstream?: Partial<UpstreamOptions>) {
  try {
    toChat(dialect, request, upstream);
    return undefined;
  } catch (error) {
    return String((error as Error).message);
  }
}
