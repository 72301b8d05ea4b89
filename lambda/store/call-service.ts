import { setTimeout } from 'node:timers/promises';
import aws4 from 'aws4';
import { createPost } from './post.ts';
import { type AwsAccess, type Credentials, endpointOf, type Service } from './service.ts';
import { isTrouble, ServiceError } from './service-error.ts';

/** Calls one operation of a service. The answer is taken for what the operation is known to answer. */
export type CallService = <Output extends object>(
  operation: string,
  input: object,
  signal?: AbortSignal,
) => Promise<Output>;

export interface Dependencies {
  readonly now: () => number;
  readonly random: () => number;
}

const attempts = 3;
/** At most so many milliseconds before the second attempt, and twice as many before the third. */
const firstPause = 100;

/**
 * Calls a service of AWS for every request, with as little work as that takes. A call is repeated where no answer came, or
 * one from a service in trouble: it may have been done all the same, so only what may be done twice is to be called.
 */
export function createCallService(service: Service, access: AwsAccess, { now, random }: Dependencies): CallService {
  const endpoint = endpointOf(service, access);
  const post = createPost(endpoint);

  const sign = (operation: string, body: string, attempt: number, credentials: Credentials) => {
    const headers = {
      Host: endpoint.host,
      'Content-Type': service.contentType,
      'X-Amz-Target': `${service.target}.${operation}`,
      'X-Amz-Date': new Date(now()).toISOString().replace(/[-:]|\.\d+/g, ''),
      'Amz-Sdk-Request': `attempt=${attempt}; max=${attempts}`,
    };
    const path = endpoint.pathname;
    const request = { service: service.name, region: access.region, method: 'POST', path, headers, body };
    return aws4.sign(request, credentials).headers ?? {};
  };

  const call = async (operation: string, body: string, attempt: number, signal: AbortSignal | undefined) => {
    const credentials = await access.credentials();
    const { status, text } = await post(sign(operation, body, attempt, credentials), body, signal);
    const answer = parseObject(text);
    if (status === 200 && answer) return answer;
    throw status === 200 ? new ServiceError('NoAnswer', 'no JSON') : refusal(status, answer, credentials);
  };

  return async <Output extends object>(operation: string, input: object, signal?: AbortSignal) => {
    const body = JSON.stringify(input);
    for (let attempt = 1; ; ) {
      try {
        return (await call(operation, body, attempt, signal)) as Output;
      } catch (error) {
        // What closed idle connections was no trouble: there is nothing to wait for, and each time there is one fewer of them.
        if (error instanceof ServiceError && error.onKeptConnection) continue;
        if (attempt === attempts || !isTrouble(error)) throw error;
        await setTimeout(random() * firstPause * attempt, undefined, signal && { signal });
        attempt += 1;
      }
    }
  };
}

type Fields = Readonly<Record<string, unknown>>;

function parseObject(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null;
}

/** What the service said against the call. It may quote the request, and so what the request was signed with. */
function refusal(status: number, answer: Fields | undefined, credentials: Credentials): ServiceError {
  const { __type = 'UnknownError', message, Message = message, ...details } = answer ?? {};
  const name = String(__type).replace(/^.*#/, '');
  const secrets = [credentials.secretAccessKey, credentials.sessionToken].filter((secret) => secret !== undefined);
  const told = secrets.reduce((text, secret) => text.replaceAll(secret, '…'), String(Message ?? name));
  return new ServiceError(name, told, { status, details });
}
