import { chat } from './chat.ts';
import { messages } from './messages.ts';
import { responses } from './responses.ts';
import type { Speaker } from './speaker.ts';

export const speakers = { chat, responses, messages };

const endpoints: Readonly<Record<string, Speaker>> = {
  '/v1/chat/completions': chat,
  '/v1/responses': responses,
  '/v1/responses/compact': responses,
  '/v1/responses/input_tokens': responses,
  '/v1/messages': messages,
  '/v1/messages/count_tokens': messages,
};

/** Who answers a request to this path, which may have a query. */
export const speakerAt = (path: string): Speaker | undefined => endpoints[path.split('?')[0] ?? ''];
