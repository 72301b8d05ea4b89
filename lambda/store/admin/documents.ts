import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { type AwsAccess, dynamoDbService, endpointOf } from '../../aws/access.ts';
import { attempts, ServiceError, tooSlow } from '../../aws/repeat.ts';
import { timeLimit } from '../../settings/refresh.ts';
import { outage } from '../errors.ts';

/** The AWS SDK's document client, for everything that no inference request waits for. */
export type Documents = DynamoDBDocumentClient;

export function createDocuments(access: AwsAccess): Documents {
  const { region, credentials } = access;
  const endpoint = endpointOf(dynamoDbService, access).href;
  const client = new DynamoDBClient({ region, credentials, endpoint, maxAttempts: attempts });
  return DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
}

/**
 * Adds a timeout to a call, retries included. Rejects like the gateway's own client: with `service_unavailable` if the store can't be
 * used, otherwise with a ServiceError.
 */
export async function inTime<T>(call: (abortSignal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), timeLimit);
  try {
    return await call(controller.signal);
  } catch (thrown) {
    const error = toServiceError(thrown, controller.signal.aborted);
    if (!(error instanceof ServiceError)) throw error;
    throw error.isOutage ? outage(error, (error.status ?? 500) >= 500) : error;
  } finally {
    clearTimeout(timer);
  }
}

/** The pages of a query or scan, each with its own timeout. */
export async function* pagesInTime<T>(open: (abortSignal: AbortSignal) => AsyncGenerator<T>): AsyncGenerator<T> {
  const controller = new AbortController();
  const pages = open(controller.signal);
  for (;;) {
    const page = await inTime((signal) => {
      signal.addEventListener('abort', () => controller.abort());
      return pages.next();
    });
    if (page.done) return;
    yield page.value;
  }
}

interface SdkError extends Error {
  /** Present once a request has been made. */
  readonly $metadata?: { readonly httpStatusCode?: number; readonly attempts?: number };
  /** Present if a condition failed. */
  readonly Item?: unknown;
}

/** An error from before the request stays as it is. */
function toServiceError(thrown: unknown, isTooSlow: boolean): unknown {
  if (isTooSlow) return new ServiceError(tooSlow, 'no answer in time', { cause: thrown });
  const { name, message, $metadata } = thrown as SdkError;
  if ($metadata === undefined) return thrown;
  const { httpStatusCode: status, attempts = 1 } = $metadata;
  if (status === undefined || status === 200) return new ServiceError('NoAnswer', message, { cause: thrown });
  // Further lines may quote the request, with its credentials.
  const [told = ''] = message.split('\n');
  return new ServiceError(name, told, { status, inDoubt: status >= 500 || attempts > 1 });
}
