import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { type AwsAccess, dynamoDbService, endpointOf } from '../../aws/access.ts';
import { attempts, ServiceError, tooSlow } from '../../aws/repeat.ts';
import { timeLimit } from '../../settings/refresh.ts';
import { outage } from '../dynamodb/table.ts';

/** AWS's own client, with plain values, for all that no inference request waits for. */
export type Documents = DynamoDBDocumentClient;

export function createDocuments(access: AwsAccess): Documents {
  const { region, credentials } = access;
  const endpoint = endpointOf(dynamoDbService, access).href;
  const client = new DynamoDBClient({ region, credentials, endpoint, maxAttempts: attempts });
  return DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
}

/**
 * Gives a call up that takes too long, repeats included. Rejects as the gateway's own calls do: with `service_unavailable` if the
 * store can't be used, else with a ServiceError.
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

/** The pages of a query or scan, each of them in time. */
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
  /** Of whatever fails once a request is made. */
  readonly $metadata?: { readonly httpStatusCode?: number; readonly attempts?: number };
  /** Comes with a condition that failed. */
  readonly Item?: unknown;
}

/** What failed before there was a request stays as it is. */
function toServiceError(thrown: unknown, isTooSlow: boolean): unknown {
  if (isTooSlow) return new ServiceError(tooSlow, 'no answer in time', { cause: thrown });
  const { name, message, $metadata } = thrown as SdkError;
  if ($metadata === undefined) return thrown;
  const { httpStatusCode: status, attempts = 1 } = $metadata;
  if (status === undefined || status === 200) return new ServiceError('NoAnswer', message, { cause: thrown });
  // The rest may quote the request, with its credentials.
  const [told = ''] = message.split('\n');
  return new ServiceError(name, told, { status, inDoubt: status >= 500 || attempts > 1 });
}
