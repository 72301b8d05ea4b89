import { expect } from '@jest/globals';
import { messagesTypes } from '../../lambda/dialects/messages/messages.ts';
import { openAiTypes } from '../../lambda/dialects/model/openai.ts';
import { catalogue, type ErrorCode } from '../../lambda/errors.ts';
import type { TestGateway } from '../support/gateway.ts';
import { type Answer, type DocumentedOperation, readContract } from './contract.ts';

export const contract = readContract();
export const inference = contract.operations.filter(({ method }) => method === 'POST');
export const models = contract.operations.filter(({ method }) => method === 'GET');
export const guest = { 'x-api-key': 'guest' };

/** The setting of a gateway that serves all of it. */
export const offersEmbeddings = { UPSTREAM_EMBEDDINGS_MODEL: 'acmecorp/thunder-embed' };

interface Sending {
  /** The plain example of the document, unless it says otherwise. */
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  readonly method?: string;
  /** Stands in for `{id}`. */
  readonly id?: string;
}

/** Sends a request, holds the answer against the document and returns it. */
export async function send(
  { url }: TestGateway,
  { path, method, examples }: DocumentedOperation,
  sending: Sending = {},
): Promise<Answer> {
  const { body = examples.plain, headers = guest, id = 'svc' } = sending;
  const sent = sending.method ?? method;
  const response = await fetch(url + path.replace('{id}', id), {
    method: sent,
    headers: { 'content-type': 'application/json', ...headers },
    ...(sent === 'POST' && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const answer = { status: response.status, headers: response.headers, body: await response.text() };
  expect(contract.judge(sent, path, answer)).toEqual([]);
  return answer;
}

/** The same for an error, whose body must say what its status and its header say. */
export async function sendInVain(
  gateway: TestGateway,
  operation: DocumentedOperation,
  sending: Sending = {},
): Promise<string> {
  const { status, headers, body } = await send(gateway, operation, sending);
  const code = headers.get('x-svc-error') as ErrorCode;
  const { error } = JSON.parse(body) as { error: { type: string; code?: string } };
  const { nature } = catalogue[code];
  if (error.code !== undefined) expect(error).toMatchObject({ code, type: openAiTypes[nature] });
  else expect(error.type).toBe(status === 529 ? 'overloaded_error' : messagesTypes[nature]);
  return `${status} ${code}`;
}

/** Expects the same error of each of the operations. */
export async function expectOfAll(
  gateway: TestGateway,
  operations: readonly DocumentedOperation[],
  outcome: string,
  sending: Sending = {},
): Promise<void> {
  expect(operations).not.toEqual([]);
  const outcomes = operations.map(async (one) => [one.path, await sendInVain(gateway, one, sending)]);
  expect(await Promise.all(outcomes)).toEqual(operations.map(({ path }) => [path, outcome]));
}
