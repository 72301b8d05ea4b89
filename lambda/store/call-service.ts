import { setTimeout } from 'node:timers/promises';
import aws4 from 'aws4';
import { createPost } from './post.ts';
import { attempts, createRepeat } from './repeat.ts';
import { type AwsAccess, type Credentials, endpointOf, type Service } from './service.ts';
import { isAboutTime, ServiceError } from './service-error.ts';

/*
 * What the SDK's client does besides, and this one leaves out:
 *
 * - Rules that find an endpoint: a deployment knows its region. FIPS, dual-stack and account endpoints can be given as the
 *   service's own variable.
 * - Pauses of up to a second after a throttled attempt, and those that an answer asks for: all attempts together have two
 *   seconds, in which somebody waits.
 * - A client-side rate limit (its adaptive mode): it holds requests back by guessing, where a caller is better told to
 *   come again.
 * - Learning the clock's error from every answer: here only from one that refuses a signature for its time. Until then
 *   the services forgive five minutes.
 * - Time limits of connections and sockets: an operation has its own (time-limit.ts).
 * - A limit of fifty connections: no more operations run at once than that file lets.
 * - Headers that nobody reads here: `user-agent`, `amz-sdk-invocation-id`, and the trace's id, as X-Ray is shown the function
 *   and nothing of what it calls.
 * - Checks of what goes out and comes in against the service's model: the few operations are tested against its emulator.
 */

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

/** Calls a service of AWS for every request, with as little work as that takes, and repeats calls as `createRepeat` says. */
export function createCallService(service: Service, access: AwsAccess, { now, random }: Dependencies): CallService {
  const endpoint = endpointOf(service, access);
  const post = createPost(endpoint);
  const pause = (milliseconds: number, signal?: AbortSignal) =>
    setTimeout(milliseconds, undefined, signal && { signal });
  const repeat = createRepeat({ now, random, pause });
  /** By how much the service's clock is ahead, where it has complained. */
  let ahead = 0;

  const sign = (operation: string, body: string, attempt: number, credentials: Credentials) => {
    const headers = {
      Host: endpoint.host,
      'Content-Type': service.contentType,
      'X-Amz-Target': `${service.target}.${operation}`,
      'X-Amz-Date': new Date(now() + ahead).toISOString().replace(/[-:]|\.\d+/g, ''),
      'Amz-Sdk-Request': `attempt=${attempt}; max=${attempts}`,
    };
    const path = endpoint.pathname;
    const request = { service: service.name, region: access.region, method: 'POST', path, headers, body };
    return aws4.sign(request, credentials).headers ?? {};
  };

  return <Output extends object>(operation: string, input: object, signal?: AbortSignal) => {
    const body = JSON.stringify(input);
    return repeat(async (attempt) => {
      const credentials = await access.credentials();
      const headers = sign(operation, body, attempt, credentials);
      return async () => {
        const { status, text, date } = await post(headers, body, signal);
        const answer = parseObject(text);
        if (status === 200 && answer) return answer as Output;
        if (status === 200) throw new ServiceError('NoAnswer', 'no JSON');
        const error = refusal(status, answer, credentials);
        if (isAboutTime(error) && !Number.isNaN(date)) ahead = date - now();
        throw error;
      };
    }, signal);
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
