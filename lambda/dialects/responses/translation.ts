import type { DialectTranslation } from '../dialect.ts';
import { openAiContextWords } from '../model/openai.ts';
import { echoOf } from './echo-request.ts';
import { readResponses } from './read-request.ts';
import { createResponsesWriter } from './write-answer.ts';

export const responses: DialectTranslation = {
  client: { read: readResponses, createWriter: createResponsesWriter, echo: echoOf, contextWords: openAiContextWords },
};
