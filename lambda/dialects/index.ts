import { createChat } from './chat/chat.ts';
import type { Dialect } from './dialect.ts';
import { messages } from './messages/messages.ts';
import { responses } from './responses/responses.ts';

/** Every dialect of the gateway. A new one is a file of its own and a line here. */
export function createDialects(settings: { streamUsage: boolean }): readonly Dialect[] {
  return [createChat(settings), responses, messages];
}
