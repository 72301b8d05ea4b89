import { createScanner } from '../../../../lambda/json/scan.ts';
import { keyOf } from '../../../../lambda/settings/secrets.ts';
import { readMessages } from '../../../../lambda/translate/request/read-messages.ts';
import { readResponses } from '../../../../lambda/translate/request/read-responses.ts';
import { writeChat } from '../../../../lambda/translate/request/write-chat.ts';
import type { ChatUpstream } from '../../../../lambda/translate/request/writing.ts';
import { createSeals } from '../../../../lambda/translate/seal.ts';
import { atOnce } from '../../../support/at-once.ts';

export type ClientDialect = 'responses' | 'messages';

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
  streamOptions: 'send',
};

interface ChatMessage {
  readonly role: string;
  readonly content: unknown;
  readonly reasoning_content?: string;
}

interface ChatBody {
  readonly messages: readonly ChatMessage[];
  readonly [name: string]: unknown;
}

const readers = { responses: readResponses, messages: readMessages };

/** Translates the text of a request, with the pauses that this takes. */
export function* translateText(dialect: ClientDialect, text: string, upstream: Partial<ChatUpstream> = {}) {
  const asking = yield* readers[dialect](createScanner().scan(text), (sealed) => seals.open(dialect, sealed));
  const written = yield* writeChat(asking, { ...plainUpstream, ...upstream }, 'up-model');
  return { ...written, thoughts: asking.thoughts };
}

/** What a chat-only upstream gets for a request. */
export function toChat(dialect: ClientDialect, request: unknown, upstream?: Partial<ChatUpstream>) {
  const text = typeof request === 'string' ? request : JSON.stringify(request);
  const { pieces, leftOut, tools, thoughts } = atOnce(translateText(dialect, text, upstream));
  const written = pieces.join('');
  const body: ChatBody = JSON.parse(written);
  return { text: written, body, leftOut, tools, thoughts };
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
