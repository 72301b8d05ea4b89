import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { GatewayError } from '../errors.ts';

/** How long one operation may take in all, retries and their pauses included. */
const timeLimit = 2000;
const parallel = 32;

const message = 'The gateway cannot reach its own store right now. Please try again in a moment.';

/** The bare client, for the hot path. A write whose answer was lost is repeated, and a dead connection replaced. */
export function createDynamoDbClient(config: DynamoDBClientConfig = {}): DynamoDBClient {
  return new DynamoDBClient({ maxAttempts: 3, ...config });
}

/** The same client, taking and giving plain values. */
export function createDocumentClient(client: DynamoDBClient): DynamoDBDocumentClient {
  return DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
}

export type TimeLimit = <T>(send: (limit: { abortSignal: AbortSignal }) => Promise<T>) => Promise<T>;

/**
 * Runs operations: a store that is down, throttled or slow becomes `service_unavailable`, other errors pass.
 * Only so many run at once. A deployed function has one request at a time, but a local server in a crowd would take its
 * own queue for the store's slowness: what waits for its turn is not yet on the clock.
 */
export function createTimeLimit(): TimeLimit {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (send) => {
    if (running < parallel) running += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await withinTimeLimit(send);
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}

async function withinTimeLimit<T>(send: (limit: { abortSignal: AbortSignal }) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const tooSlow = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    // The SDK does not look at the signal while it pauses before a retry, hence the race beside it.
    tooSlow.reject(new GatewayError('service_unavailable', message, { cause: new Error('the store is too slow') }));
    controller.abort();
  }, timeLimit);
  try {
    return await Promise.race([send({ abortSignal: controller.signal }), tooSlow.promise]);
  } catch (error) {
    throw isUnavailable(error) ? new GatewayError('service_unavailable', message, { cause: error }) : error;
  } finally {
    clearTimeout(timer);
  }
}

interface ExchangeFailure {
  readonly name: string;
  readonly $metadata: { readonly httpStatusCode?: number };
}

/** Whether an answer failed to come, or came from a store in trouble. */
function isUnavailable(error: unknown): boolean {
  if (!isExchangeFailure(error)) return false;
  const status = error.$metadata.httpStatusCode;
  return status === undefined || status >= 500 || /Throttl|ThroughputExceeded|RequestLimitExceeded/.test(error.name);
}

/** The SDK marks whatever went wrong once a request was on its way, its own mistakes aside. */
function isExchangeFailure(error: unknown): error is ExchangeFailure {
  return typeof error === 'object' && error !== null && '$metadata' in error;
}
