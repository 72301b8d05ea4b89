import { presentMember, stringMember } from '../../../json/read.ts';
import { createScanner } from '../../../json/scan.ts';
import { readErrorMessage } from '../answer-members.ts';

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

/** Whether the body of an upstream's error says that the request is too long for the model. */
function isContextError(body: string): boolean {
  try {
    const error = createScanner().scan(body);
    const inner = presentMember(error, error.root, 'error') ?? error.root;
    const named = [stringMember(error, inner, 'code'), stringMember(error, inner, 'type')];
    const message = readErrorMessage(error) ?? '';
    return named.some((name) => codes.test(name ?? '')) || words.some((pattern) => pattern.test(message));
  } catch {
    return false;
  }
}

/** By what agents see that a conversation is too long, and shorten it: a code, or how the message begins. */
export interface ContextWords {
  readonly code?: string;
  readonly beginning?: string;
}

/** What a client is told of an error body that says so. `message` is what may be shown of the upstream's own. */
export function explainContext({ code, beginning = '' }: ContextWords, body: string, message: string) {
  if (!isContextError(body)) return undefined;
  const said = message.startsWith(beginning) ? message : `${beginning}: ${message || 'shorten it'}`;
  return { message: said, ...(code !== undefined && { shownCode: code }) };
}
