import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { ServiceError, timeLimit, tooSlow } from './repeat.ts';

/** The SDK's client, for everything that does not happen on every request. It repeats a write whose answer was lost. */
export function createDynamoDbClient(config: DynamoDBClientConfig = {}): DynamoDBClient {
  return new DynamoDBClient({ maxAttempts: 3, ...config });
}

/** The same client, with plain values. */
export function createDocumentClient(client: DynamoDBClient): DynamoDBDocumentClient {
  return DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
}

/** Sends a command of the SDK within the time limit. It fails like a call without the SDK. */
export async function sendInTime<T>(send: (limit: { abortSignal: AbortSignal }) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    // The SDK ignores the signal while it pauses before a retry.
    late.reject(new ServiceError(tooSlow, 'no answer in time'));
    controller.abort();
  }, timeLimit);
  try {
    return await Promise.race([send({ abortSignal: controller.signal }), late.promise]);
  } catch (error) {
    throw toServiceError(error);
  } finally {
    clearTimeout(timer);
  }
}

/** The SDK's errors have `$metadata` once a request was sent; a mistake in the command has none. */
function toServiceError(error: unknown): unknown {
  if (!Error.isError(error) || !('$metadata' in error)) return error;
  const { httpStatusCode: status } = error.$metadata as { readonly httpStatusCode?: number };
  const wasSent = !('code' in error && /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN)$/.test(String(error.code)));
  const details = status === undefined ? { inDoubt: wasSent } : { status };
  return new ServiceError(error.name, error.message, { ...details, cause: error });
}
