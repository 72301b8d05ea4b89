import { createChat } from './chat/chat.ts';
import type { Dialect } from './dialect.ts';
import { messages } from './messages/messages.ts';
import { responses } from './responses/responses.ts';

/** The dialects of conversations. The gateway adds embeddings where they are offered. */
export function createDialects(settings: { streamUsage: boolean }): readonly Dialect[] {
  return [createChat(settings), responses, messages];
}
