import { z } from 'zod';
import { messagesTypes } from '../../lambda/dialects/messages.ts';
import { openAiTypes } from '../../lambda/dialects/openai-error.ts';
import { catalogue, type ErrorCode } from '../../lambda/errors.ts';
import { faultIn } from './judge-shape.ts';
import { quote, type Reply } from './probe.ts';

export interface ExpectedError {
  readonly code: ErrorCode;
  readonly shape: 'openai' | 'messages';
  /** What its message must quote, letter by letter. */
  readonly quotes?: string;
  /** Additional headers of this error. */
  readonly headers?: Readonly<Record<string, RegExp>>;
}

/** The fault in an error's status, exact shape or headers; undefined if there is none. */
export function faultInError(reply: Reply, expected: ExpectedError, headerPrefix: string): string | undefined {
  const { code, shape, quotes = '', headers = {} } = expected;
  const { status, nature } = catalogue[code];
  const message = z
    .string()
    .min(1)
    .includes(quotes, `it does not quote ${quotes}: something on the way changes letters beyond ASCII`);
  if (reply.status !== status) return `expected ${status} ${code}, not ${quote(reply)}`;
  const body =
    shape === 'openai'
      ? z.strictObject({ message, type: z.literal(openAiTypes[nature]), code: z.literal(code) })
      : z.strictObject({ type: z.literal(messagesTypes[nature]), message });
  const whole = shape === 'openai' ? { error: body } : { type: z.literal('error'), error: body };
  const fault = faultIn(reply, z.strictObject(whole));
  if (fault !== undefined) return fault;
  for (const [name, value] of Object.entries({ [`${headerPrefix}error`]: new RegExp(`^${code}$`), ...headers })) {
    const found = reply.headers.get(name);
    if (found === null || !value.test(found)) return `${name} is ${found ?? 'missing'}`;
  }
  return undefined;
}
