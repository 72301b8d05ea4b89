import type { DialectTranslation } from '../dialect.ts';
import { messagesHeaders } from './messages.ts';
import { messagesAnswers } from './read-answer.ts';
import { readMessages } from './read-request.ts';
import { createMessagesWriter } from './write-answer.ts';
import { writeMessagesRequest } from './write-request.ts';

export const messages: DialectTranslation = {
  client: {
    read: readMessages,
    createWriter: createMessagesWriter,
    contextWords: { beginning: 'prompt is too long' },
  },
  upstream: {
    write: writeMessagesRequest,
    answers: messagesAnswers,
    headers: messagesHeaders,
  },
};
