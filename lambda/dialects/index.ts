import { chat } from './chat/chat.ts';
import type { Dialect } from './dialect.ts';
import { embeddings } from './embeddings/embeddings.ts';
import { messages } from './messages/messages.ts';
import { responses } from './responses/responses.ts';

/** Those in which conversations are held. */
export const dialects: readonly Dialect[] = [chat, responses, messages];

export const allDialects: readonly Dialect[] = [...dialects, embeddings];
