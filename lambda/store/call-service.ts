import { setTimeout } from 'node:timers/promises';
import { createPost } from './post.ts';
import { attempts, createRepeat } from './repeat.ts';
import { type AwsAccess, type Credentials, endpointOf, type Service } from './service.ts';
import { isAboutTime, ServiceError } from './service-error.ts';
import { createSign } from './sign.ts';

/*
 * This client omits what the SDK's does besides:
 *
 * - Endpoint rules: a deployment knows its region. FIPS, dual-stack and account endpoints can be set in the service's own
 *   variable.
 * - Pauses of up to a second after a throttled attempt, and pauses that an answer asks for: all attempts share two seconds,
 *   during which a client waits.
 * - A client-side rate limit (the adaptive mode), which delays requests on a guess: better to ask the caller to try again.
 * - Correcting the clock by every answer: this one does so only when a signature is refused for its time. The services
 *   tolerate five minutes.
 * - Time limits of connections and sockets: the whole operation has one (time-limit.ts).
 * - A limit of fifty connections: that file limits how many operations run at once.
 * - Headers that nobody reads here: `user-agent`, `amz-sdk-invocation-id`, and the trace's id, since X-Ray shows the function
 *   but not what it calls.
 * - Checks of input and output against the service's model: the few operations are tested against its emulator.
 */

/** Calls one operation of a service. Trusts the answer to be of the operation's type. */
export type CallService = <Output extends object>(
  operation: string,
  input: object,
  signal?: AbortSignal,
) => Promise<Output>;

export interface Dependencies {
  readonly now: () => number;
  readonly random: () => number;
}

/** Calls an AWS service with as little work per call as possible, and repeats calls as `createRepeat` decides. */
export function createCallService(service: Service, access: AwsAccess, { now, random }: Dependencies): CallService {
  const endpoint = endpointOf(service, access);
  const post = createPost(endpoint);
  const sign = createSign(service, access.region, endpoint);
  const pause = (milliseconds: number, signal?: AbortSignal) =>
    setTimeout(milliseconds, undefined, signal && { signal });
  const repeat = createRepeat({ now, random, pause });
  /** How many milliseconds the service's clock is ahead, once it has complained. */
  let ahead = 0;

  return <Output extends object>(operation: string, input: object, signal?: AbortSignal) => {
    const body = JSON.stringify(input);
    return repeat(async (attempt) => {
      const credentials = await access.credentials();
      const call = { operation, body, time: now() + ahead, attempt: `attempt=${attempt}; max=${attempts}` };
      const headers = sign(call, credentials);
      return async () => {
        const { status, text, date } = await post(headers, body, signal);
        const answer = parseObject(text);
        if (status === 200 && answer) return answer as Output;
        if (status === 200) throw new ServiceError('NoAnswer', 'no JSON');
        const error = refusal(status, answer, credentials);
        const serviceTime = Date.parse(date);
        if (isAboutTime(error) && !Number.isNaN(serviceTime)) ahead = serviceTime - now();
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

/** The service's refusal. It may quote the request, so the credentials are removed from it. */
function refusal(status: number, answer: Fields | undefined, credentials: Credentials): ServiceError {
  const { __type = 'UnknownError', message, Message = message, ...details } = answer ?? {};
  const name = String(__type).replace(/^.*#/, '');
  const secrets = [credentials.secretAccessKey, credentials.sessionToken].filter((secret) => secret !== undefined);
  const told = secrets.reduce((text, secret) => text.replaceAll(secret, '…'), String(Message ?? name));
  return new ServiceError(name, told, { status, details });
}
