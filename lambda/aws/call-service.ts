import { Agent as HttpAgent, type RequestOptions, request as requestByHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestByHttps } from 'node:https';
import { urlToHttpOptions } from 'node:url';
import { isObject, parseJson } from '../settings/read.ts';
import type { ReadSecret } from '../settings/secrets.ts';
import {
  type AwsAccess,
  type Credentials,
  dynamoDbService,
  endpointOf,
  type Service,
  secretsManagerService,
} from './access.ts';
import { attempts, createRepeat, ServiceError } from './repeat.ts';
import { createSign } from './sign.ts';

/** The calls to AWS that requests need. */
export interface Aws {
  readonly callDynamoDb: CallService;
  readonly readSecret: ReadSecret;
}

/** All that an inference request waits for. Everything else goes by AWS's own client: lambda/stores. */
type Operation = 'GetItem' | 'UpdateItem' | 'GetSecretValue';

/** Calls one operation of a service. Trusts the answer to be of the operation's type. */
export type CallService = <Output extends object>(operation: Operation, input: object) => Promise<Output>;

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
  return async (id, version) => {
    const input = { SecretId: id, ...(version && { VersionStage: 'AWSPREVIOUS' }) };
    try {
      type Secret = { readonly SecretString?: string };
      return (await callSecretsManager<Secret>('GetSecretValue', input)).SecretString ?? '';
    } catch (error) {
      // A secret that was never replaced has no previous version.
      if (version && error instanceof ServiceError && error.name === 'ResourceNotFoundException') return '';
      throw error;
    }
  };
}

/** Calls an AWS service with as little work per call as possible. */
export function createCallService(service: Service, access: AwsAccess, { now, random }: Dependencies): CallService {
  const endpoint = endpointOf(service, access);
  const post = createPost(endpoint);
  const sign = createSign(service, access.region, endpoint);
  const repeat = createRepeat({ now, random });
  /** How many milliseconds the service's clock is ahead, once it has complained. */
  let ahead = 0;

  return async <Output extends object>(operation: Operation, input: object) => {
    const body = JSON.stringify(input);
    // The same for all attempts: what has been sent once can be sent again.
    const credentials = await access.credentials();
    return repeat(async (number, signal) => {
      const call = { operation, body, time: now() + ahead, attempt: `attempt=${number}; max=${attempts}` };
      const { status, text, date } = await post(sign(call, credentials), body, signal);
      const answer = parseJson(text);
      if (status === 200 && isObject(answer)) return answer as Output;
      if (status === 200) throw new ServiceError('NoAnswer', 'no JSON');
      const error = refusal(status, isObject(answer) ? answer : {}, credentials);
      const time = error.isAboutTime ? Date.parse(date ?? '') : 0;
      if (time > 0) ahead = time - now();
      throw error;
    });
  };
}

interface Answer {
  readonly status: number;
  readonly text: string;
  /** When it was made, by the service's clock. */
  readonly date: string | undefined;
}

/** Posts over kept connections, which don't keep the process alive. Rejects if no answer comes, or only a part of one. */
function createPost(endpoint: URL) {
  const isSecure = endpoint.protocol === 'https:';
  const send = isSecure ? requestByHttps : requestByHttp;
  const agent = new (isSecure ? HttpsAgent : HttpAgent)({ keepAlive: true });
  const { hostname, port, path } = urlToHttpOptions(endpoint);
  const options: RequestOptions = { hostname, port, path, method: 'POST', agent };

  return (headers: Record<string, string>, body: string, signal: AbortSignal): Promise<Answer> =>
    new Promise((resolve, reject) => {
      let isAnswered = false;
      /** Without a connection nothing was sent. */
      let isConnected = false;
      const fail = (cause: NodeJS.ErrnoException, wasClosed = false) =>
        reject(new ServiceError('NoAnswer', cause.message, { cause, wasClosed, inDoubt: isConnected }));

      // As a list, which Node writes as it is: it would keep a record of each header of an object.
      const list = ['content-length', String(Buffer.byteLength(body)), ...Object.entries(headers).flat()];
      const request = send({ ...options, headers: list }, (response) => {
        isAnswered = true;
        const { statusCode: status = 0, headers } = response;
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (part: string) => (text += part));
        response.on('end', () => resolve({ status, text, date: headers.date }));
        response.on('error', fail);
      });
      request.on('socket', (socket) => {
        if (request.reusedSocket) isConnected = true;
        else socket.once(isSecure ? 'secureConnect' : 'connect', () => (isConnected = true));
      });
      // The other side may have closed it long ago, unnoticed while this process was frozen.
      const wasClosed = ({ code = '' }: NodeJS.ErrnoException) =>
        request.reusedSocket && /^(ECONNRESET|EPIPE)$/.test(code);
      request.on('error', (cause) => fail(cause, wasClosed(cause)));
      request.on('close', () => isAnswered || fail(new Error('closed without an answer')));
      // Node's own `signal` option watches the whole request for its end, which costs more.
      signal.addEventListener('abort', () => request.destroy(new Error('given up')));
      request.end(body);
    });
}

/** The service's refusal. It may quote the request, so the credentials are removed from it. */
function refusal(status: number, answer: Readonly<Record<string, unknown>>, credentials: Credentials): ServiceError {
  const { __type, message, Message = message, ...details } = answer;
  const name = typeof __type === 'string' ? __type.replace(/^.*#/, '') : 'UnknownError';
  const secrets = [credentials.secretAccessKey, credentials.sessionToken].filter((secret) => secret !== undefined);
  const quoted = typeof Message === 'string' ? Message : name;
  const text = secrets.reduce((rest, secret) => rest.replaceAll(secret, '…'), quoted);
  return new ServiceError(name, text, { status, details });
}
