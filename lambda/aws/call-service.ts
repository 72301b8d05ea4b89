import { Agent as HttpAgent, type RequestOptions, request as requestByHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestByHttps } from 'node:https';
import { setTimeout } from 'node:timers/promises';
import { urlToHttpOptions } from 'node:url';
import type { ReadSecret } from '../settings/secrets.ts';
import {
  type AwsAccess,
  type Credentials,
  dynamoDbService,
  endpointOf,
  type Service,
  secretsManagerService,
} from './access.ts';
import { isAboutTime, isTrouble, mayBeDone, ServiceError } from './service-error.ts';
import { createSign } from './sign.ts';

/** The calls to AWS that requests need. */
export interface Aws {
  readonly callDynamoDb: CallService;
  readonly readSecret: ReadSecret;
}

/** Calls one operation of a service. Trusts the answer to be of the operation's type. */
export type CallService = <Output extends object>(
  operation: string,
  input: object,
  signal?: AbortSignal,
) => Promise<Output>;

interface Dependencies {
  readonly now: () => number;
  readonly random: () => number;
}

export function createAws(access: AwsAccess, dependencies: Dependencies): Aws {
  return {
    callDynamoDb: createCallService(dynamoDbService, access, dependencies),
    readSecret: createSecretReader(createCallService(secretsManagerService, access, dependencies)),
  };
}

function createSecretReader(callSecretsManager: CallService): ReadSecret {
  return async (id, { version, signal } = {}) => {
    const input = { SecretId: id, ...(version && { VersionStage: 'AWSPREVIOUS' }) };
    try {
      type Secret = { readonly SecretString?: string };
      return (await callSecretsManager<Secret>('GetSecretValue', input, signal)).SecretString ?? '';
    } catch (error) {
      // A secret that was never replaced has no previous version.
      if (version && error instanceof ServiceError && error.name === 'ResourceNotFoundException') return '';
      throw error;
    }
  };
}

/** How long one operation may take in all, repeats and their pauses included, in milliseconds. */
export const timeLimit = 2000;
const attempts = 3;
/** The longest pause before the second attempt, in milliseconds; before the third it is twice as long. */
const firstPause = 100;
/** For repeats while nothing succeeds, with the SDK's numbers: enough for 35. */
const budgets = { full: 500, repeat: 14, earnedByFirstAttempt: 1 } as const;

/** Calls an AWS service with as little work per call as possible. */
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
        if (isAboutTime(error) && date > 0) ahead = date - now();
        throw error;
      };
    }, signal);
  };
}

interface Answer {
  readonly status: number;
  readonly text: string;
  /** When it was made, by the service's clock; NaN if it does not say. */
  readonly date: number;
}

/** Posts over kept connections, which don't keep the process alive. Rejects if no answer comes, or only a part of one. */
function createPost(endpoint: URL) {
  const isSecure = endpoint.protocol === 'https:';
  const send = isSecure ? requestByHttps : requestByHttp;
  const agent = new (isSecure ? HttpsAgent : HttpAgent)({ keepAlive: true });
  const options: RequestOptions = { ...urlToHttpOptions(endpoint), method: 'POST', agent };

  return (headers: Record<string, string>, body: string, signal: AbortSignal | undefined): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const request = send({ ...options, headers, ...(signal && { signal }) }, (response) => {
        const { statusCode: status = 0, headers } = response;
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (part: string) => {
          text += part;
        });
        response.on('end', () => resolve({ status, text, date: Date.parse(headers.date ?? '') }));
        response.on('error', (cause) => reject(new ServiceError('NoAnswer', cause.message, { cause })));
      });
      request.on('error', (cause: NodeJS.ErrnoException) => {
        // The other side may have closed it long ago, unnoticed while this process was frozen.
        const wasClosed = request.reusedSocket && /^(ECONNRESET|EPIPE)$/.test(cause.code ?? '');
        reject(new ServiceError('NoAnswer', cause.message, { cause, wasClosed }));
      });
      request.end(body);
    });
}

/** Gets the attempt with this number ready to be sent. */
type Prepare<T> = (attempt: number) => Promise<() => Promise<T>>;

interface RepeatDependencies extends Dependencies {
  readonly pause: (milliseconds: number, signal?: AbortSignal) => Promise<unknown>;
}

/**
 * Makes calls, and repeats each if no answer came or the service was in trouble. The call may have been carried out anyway, so
 * it must be safe to carry out twice. If all calls of a process repeated while a service is in trouble, they would multiply its
 * load: once the budget is spent, a call fails at its first attempt until others have succeeded.
 */
export function createRepeat({ now, random, pause }: RepeatDependencies) {
  let budget: number = budgets.full;

  return async <T>(prepare: Prepare<T>, signal?: AbortSignal): Promise<T> => {
    let startedAt: number | undefined;
    let failure: ServiceError | undefined;
    for (let attempt = 1; ; ) {
      try {
        const send = await prepare(attempt);
        startedAt ??= now();
        // An environment may have been frozen since the attempt before.
        if (failure && now() - startedAt >= timeLimit) throw failure;
        const answer = await send();
        budget = Math.min(budgets.full, budget + (attempt === 1 ? budgets.earnedByFirstAttempt : budgets.repeat));
        return answer;
      } catch (thrown) {
        if (thrown === failure) throw thrown;
        failure = follow(failure, thrown);
        // A connection that was closed while idle is no sign of trouble: no need to wait, and each attempt leaves one fewer.
        if (failure.wasClosed) continue;
        if (attempt === attempts || signal?.aborted || !isTrouble(failure) || budget < budgets.repeat) throw failure;
        budget -= budgets.repeat;
        await pause(random() * firstPause * attempt, signal);
        attempt += 1;
      }
    }
  };
}

/** What an attempt failed with, marked if one before it may have been carried out. */
function follow(before: ServiceError | undefined, thrown: unknown): ServiceError {
  const inDoubt = before !== undefined && mayBeDone(before);
  if (!(thrown instanceof ServiceError) && !inDoubt) throw thrown;
  const failure = thrown instanceof ServiceError ? thrown : new ServiceError('NotSent', 'not sent', { cause: thrown });
  failure.inDoubt = inDoubt;
  return failure;
}

type Fields = Readonly<Record<string, unknown>>;

function parseObject(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

/** The service's refusal. It may quote the request, so the credentials are removed from it. */
function refusal(status: number, answer: Fields | undefined, credentials: Credentials): ServiceError {
  const { __type = 'UnknownError', message, Message = message, ...details } = answer ?? {};
  const name = String(__type).replace(/^.*#/, '');
  const secrets = [credentials.secretAccessKey, credentials.sessionToken].filter((secret) => secret !== undefined);
  const text = secrets.reduce((quoted, secret) => quoted.replaceAll(secret, '…'), String(Message ?? name));
  return new ServiceError(name, text, { status, details });
}
