import type { Answer } from './answer.ts';
import type { JsonObject } from './json.ts';
import type { Prompt } from './prompt.ts';
import { type VendorError, vendor } from './vendor.ts';

/** One answer on its way out. */
export interface Reply {
  readonly answer: Answer;
  readonly body: JsonObject;
  readonly model: string;
  /** The number of the request, which makes its ids. */
  readonly number: number;
  /** In seconds since 1970. */
  readonly created: number;
}

/** The wire form of one dialect as a maker of models speaks it. */
export interface DemoDialect {
  read(body: JsonObject): Prompt;
  /** The answer in one piece. */
  whole(reply: Reply): JsonObject;
  /** The answer as server-sent events. */
  frames(reply: Reply): Iterable<string>;
  error(error: VendorError): JsonObject;
}

export const sseFrame = (data: JsonObject | '[DONE]', event?: string): string =>
  `${event === undefined ? '' : `event: ${event}\n`}data: ${data === '[DONE]' ? data : JSON.stringify(data)}\n\n`;

const openAiErrors: Readonly<Record<number, readonly [type: string, code: string | null]>> = {
  401: ['invalid_request_error', 'invalid_api_key'],
  404: ['invalid_request_error', 'model_not_found'],
};

/** The error body that the two OpenAI dialects share. */
export function openAiError(error: VendorError): JsonObject {
  const [type, code] = openAiErrors[error.status] ?? ['invalid_request_error', null];
  return { error: { message: error.message, type, param: null, code }, provider: vendor.marks.provider };
}
