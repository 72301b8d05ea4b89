import type { DialectTranslation } from '../dialect.ts';
import { openAiContextWords } from '../model/openai.ts';
import { chatAnswers } from './read-answer.ts';
import { readChat } from './read-request.ts';
import { createChatWriter } from './write-answer.ts';
import { writeChatRequest } from './write-request.ts';

export const chat: DialectTranslation = {
  client: { read: readChat, createWriter: createChatWriter, joinsTexts: true, contextWords: openAiContextWords },
  upstream: { write: writeChatRequest, answers: chatAnswers, headers: {} },
};
