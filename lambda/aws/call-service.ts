import { type IncomingMessage, type RequestOptions, request as requestByHttp } from 'node:http';
import { request as requestByHttps } from 'node:https';
import { urlToHttpOptions } from 'node:url';
import { PlainAgent, SecureAgent } from '../http/connections.ts';
import { isObject, parseJson } from '../settings/json.ts';
import type { ReadSecret } from '../settings/secrets.ts';
import {
  type AwsAccess,
  type Credentials,
  dynamoDbService,
  endpointOf,
  type Service,
  secretsManagerService,
} from './access.ts';
import { attempts, createRepeat, type Deadline, ServiceError } from './repeat.ts';
import { createSign } from './sign.ts';

/** The calls to AWS that requests need. */
export interface Aws {
  readonly callDynamoDb: CallService;
  readonly readSecret: ReadSecret;
}

/** All that an inference request waits for. Everything else goes by AWS's own client: lambda/store/admin. */
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
    return repeat(async (number, patience) => {
      const call = { operation, body, time: now() + ahead, attempt: `attempt=${number}; max=${attempts}` };
      const { text, head } = await post(sign(call, credentials), body, patience);
      const { statusCode: status = 0 } = head;
      const answer = parseJson(text);
      if (status === 200 && isObject(answer)) return answer as Output;
      if (status === 200) throw new ServiceError('NoAnswer', 'no JSON');
      const error = refusal(status, isObject(answer) ? answer : {}, credentials);
      const time = error.isAboutTime ? Date.parse(head.headers.date ?? '') : 0;
      if (time > 0) ahead = time - now();
      throw error;
    });
  };
}

interface Answer {
  readonly text: string;
  /** Node reads the headers when they are asked for, which is rare: for the service's clock. */
  readonly head: IncomingMessage;
}

/** Posts over kept connections, which don't keep the process alive. Rejects if no answer comes, or only a part of one. */
function createPost(endpoint: URL) {
  const isSecure = endpoint.protocol === 'https:';
  const send = isSecure ? requestByHttps : requestByHttp;
  const agent = new (isSecure ? SecureAgent : PlainAgent)({ keepAlive: true });
  const { hostname, port, path } = urlToHttpOptions(endpoint);
  const options: RequestOptions = { hostname, port, path, method: 'POST', agent };

  return (headers: readonly string[], body: string, patience: Deadline): Promise<Answer> =>
    new Promise((resolve, reject) => {
      let isAnswered = false;
      const length = ['content-length', String(Buffer.byteLength(body))];
      // As a list, which Node writes as it is: it would keep a record of each header of an object.
      const request = send({ ...options, headers: headers.concat(length) }, (head) => {
        isAnswered = true;
        let text = '';
        head.setEncoding('utf8');
        head.on('data', (part: string) => (text += part));
        head.on('end', () => resolve({ text, head }));
        head.on('error', fail);
      });
      /** Without a connection nothing was sent. */
      let isConnected = request.reusedSocket;
      if (!isConnected) {
        request.once('socket', (socket) => {
          socket.once(isSecure ? 'secureConnect' : 'connect', () => (isConnected = true));
        });
      }
      const fail = (cause: NodeJS.ErrnoException, wasClosed = false) =>
        reject(new ServiceError('NoAnswer', cause.message, { cause, wasClosed, inDoubt: isConnected }));

      // The other side may have closed it long ago, unnoticed while this process was frozen.
      const wasClosed = ({ code = '' }: NodeJS.ErrnoException) =>
        request.reusedSocket && /^(ECONNRESET|EPIPE)$/.test(code);
      request.on('error', (cause) => fail(cause, wasClosed(cause)));
      request.on('close', () => isAnswered || fail(new Error('closed without an answer')));
      patience.giveUp = () => request.destroy(new Error('given up'));
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
