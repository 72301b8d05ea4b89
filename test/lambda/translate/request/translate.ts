import { createScanner } from '../../../../lambda/json/scan.ts';
import { keyOf } from '../../../../lambda/settings/secrets.ts';
import { renderLeftOut } from '../../../../lambda/translate/left-out.ts';
import type { ChatUpstream } from '../../../../lambda/translate/options.ts';
import { readMessages } from '../../../../lambda/translate/request/read-messages.ts';
import { readResponses } from '../../../../lambda/translate/request/read-responses.ts';
import { writeChat } from '../../../../lambda/translate/request/write-chat.ts';
import { createSeals } from '../../../../lambda/translate/seal.ts';
import type { ToolNames } from '../../../../lambda/translate/tools.ts';

export type ClientDialect = 'responses' | 'messages';

const readers = { responses: readResponses, messages: readMessages };

export const seals = createSeals(keyOf('a salt of at least 16 characters'), 'caller');

/** An upstream whose operator has set nothing. */
export const plainUpstream: ChatUpstream = {
  limitName: 'max_tokens',
  reasoning: 'none',
  levels: ['low', 'medium', 'high'],
  replay: 'back',
  systemTurns: 'fold',
  toolImages: 'after',
  unknown: 'leave-out',
};

interface ChatMessage {
  readonly role: string;
  readonly content: unknown;
  readonly reasoning_content?: string;
}

export interface ChatBody {
  readonly messages: readonly ChatMessage[];
  readonly [name: string]: unknown;
}

export interface Chat {
  /** The body as JSON text, and as a value. */
  readonly text: string;
  readonly body: ChatBody;
  /** The value of the header. */
  readonly leftOut: string | undefined;
  readonly tools: ToolNames;
}

/** What a chat-only upstream gets for a request. */
export function toChat(dialect: ClientDialect, request: unknown, upstream: Partial<ChatUpstream> = {}): Chat {
  const text = typeof request === 'string' ? request : JSON.stringify(request);
  const reading = readers[dialect](createScanner().scan(text), (sealed) => seals.open(dialect, sealed));
  const asking = finish(reading);
  const { pieces, leftOut, tools } = finish(writeChat(asking, { ...plainUpstream, ...upstream }, 'up-model'));
  const written = pieces.join('');
  return { text: written, body: JSON.parse(written), leftOut: renderLeftOut(leftOut), tools };
}

/** The message of the refusal; undefined if the request is translated. */
export function refusalOf(dialect: ClientDialect, request: unknown, upstream?: Partial<ChatUpstream>) {
  try {
    toChat(dialect, request, upstream);
    return undefined;
  } catch (error) {
    return String((error as Error).message);
  }
}

function finish<T>(work: Generator<undefined, T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}
