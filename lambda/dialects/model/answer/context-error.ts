import { presentMember, stringMember } from '../../../json/read.ts';
import { createScanner } from '../../../json/scan.ts';
import { readErrorMessage } from '../answer-members.ts';

/** The error codes and types of chat servers for a request that exceeds the model's context. */
const codes = /^(context_length_exceeded|exceed_context_size_error|context_window_exceeded)$/;

/** The messages of servers that have no code for it. */
const words = [
  /maximum (model|context|sequence) length/i,
  /longer than the (maximum|model's) (model|context) length/i,
  /exceeds? the (available|model's|maximum) context/i,
  /exceeded model token limit/i,
  /prompt is too long|input token length too long/i,
  /`inputs` tokens \+ `max_new_tokens` must be/i,
];

/** Whether an upstream's error body says that the request exceeds the model's context. */
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

/** How agents recognize that a conversation is too long, so that they shorten it: an error code, or the start of the message. */
export interface ContextWords {
  readonly code?: string;
  readonly beginning?: string;
}

/** The client's error for such an error body; undefined for any other. `message` is the upstream's, as far as it may be shown. */
export function explainContext({ code, beginning = '' }: ContextWords, body: string, message: string) {
  if (!isContextError(body)) return undefined;
  const said = message.startsWith(beginning) ? message : `${beginning}: ${message || 'shorten it'}`;
  return { message: said, ...(code !== undefined && { shownCode: code }) };
}
