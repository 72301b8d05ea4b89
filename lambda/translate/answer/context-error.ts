import { readErrorMessage } from '../../dialects/answer.ts';
import type { Dialect } from '../../dialects/dialect.ts';
import { presentMember, stringMember } from '../../json/read.ts';
import { createScanner } from '../../json/scan.ts';

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

/** Agents shorten their conversation when they read this: they look for a code, or for how the message begins. */
interface ContextError {
  readonly message: string;
  /** The code in the body, where that is not the gateway's own. */
  readonly shownCode?: string;
}

/**
 * What a client of this dialect is told of an error body, if it says that the request is too long for the model. `message` is what may
 * be shown of the upstream's own.
 */
export function explainContext(client: Dialect['name'], body: string, message: string): ContextError | undefined {
  if (!isContextError(body)) return undefined;
  if (client !== 'messages') return { message, shownCode: 'context_length_exceeded' };
  return { message: /^prompt is too long/.test(message) ? message : `prompt is too long: ${message || 'shorten it'}` };
}
