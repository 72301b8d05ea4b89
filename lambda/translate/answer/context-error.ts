import { presentMember, readErrorMessage, stringMember } from '../../dialects/answer.ts';
import { createScanner, type Json } from '../../json/scan.ts';

/** The codes and types by which servers of chat say that a request is longer than the model's context. */
const codes = /^(context_length_exceeded|exceed_context_size_error|context_window_exceeded)$/;

/** The words of those that have no code for it. */
const words = [
  /maximum (model|context|sequence) length/i,
  /longer than the (maximum|model's) (model|context) length/i,
  /exceeds? the (available|model's|maximum) context/i,
  /exceeded model token limit/i,
  /prompt is too long|input token length too long/i,
  /`inputs` tokens \+ `max_new_tokens` must be/i,
];

/** Whether an upstream's error says that the request is too long for the model. */
export function isContextError(error: Json): boolean {
  const inner = presentMember(error, error.root, 'error') ?? error.root;
  const named = [stringMember(error, inner, 'code'), stringMember(error, inner, 'type')];
  const message = readErrorMessage(error) ?? '';
  return named.some((name) => codes.test(name ?? '')) || words.some((pattern) => pattern.test(message));
}

/** Agents shorten their conversation when they read this. */
export interface ContextError {
  readonly message: string;
  /** The code in the body, where that is not the gateway's own. */
  readonly shownCode?: string;
}

/** Says it in the words of a dialect: its clients look for a code, or for how the message begins. */
export type WordContextError = (message: string) => ContextError;

export const contextErrors = {
  messages: (message) => ({
    message: /^prompt is too long/.test(message) ? message : `prompt is too long: ${message || 'shorten it'}`,
  }),
  responses: (message) => ({ message, shownCode: 'context_length_exceeded' }),
} satisfies Record<string, WordContextError>;

/** What the client is told of this error body, if it says that the request is too long. `message` is what of it may be shown. */
export function explainContextError(body: string, message: string, word: WordContextError): ContextError | undefined {
  try {
    return isContextError(createScanner().scan(body)) ? word(message) : undefined;
  } catch {
    return undefined;
  }
}
