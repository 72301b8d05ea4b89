import { type IncomingMessage, type RequestOptions, request as requestByHttp } from 'node:http';
import { request as requestByHttps } from 'node:https';
import { urlToHttpOptions } from 'node:url';
import { PlainAgent, SecureAgent } from '../http/connections.ts';
import { isObject, parseJson } from '../settings/json.ts';
import type { ReadSecret, ReadToken } from '../settings/secrets.ts';
import {
  type AwsAccess,
  type Credentials,
  dynamoDbService,
  endpointOf,
  type Service,
  secretsManagerService,
} from './access.ts';
import { createReadToken } from './bedrock-token.ts';
import { attempts, createRepeat, type Deadline, ServiceError } from './repeat.ts';
import { createSign } from './sign.ts';

/** What the request path needs of AWS. */
export interface Aws {
  readonly callDynamoDb: CallService;
  readonly readSecret: ReadSecret;
  /** Makes a token without any call. */
  readonly readToken: ReadToken;
}

/** All operations on the path of an inference request. Everything else uses the AWS SDK: lambda/store/admin. */
type Operation = 'GetItem' | 'UpdateItem' | 'GetSecretValue';

/** Calls an operation of a service. The response is not checked against `Output`. */
export type CallService = <Output extends object>(operation: Operation, input: object) => Promise<Output>;

interface Dependencies {
  readonly now: () => number;
  readonly random: () => number;
}

export function createAws(access: AwsAccess, dependencies: Dependencies): Aws {
  return {
    callDynamoDb: createCallService(dynamoDbService, access, dependencies),
    readSecret: createSecretReader(createCallService(secretsManagerService, access, dependencies)),
    readToken: createReadToken(access.credentials, dependencies.now),
  };
}

function createSecretReader(callSecretsManager: CallService): ReadSecret {
  return async (id, version) => {
    const input = { SecretId: id, ...(version && { VersionStage: 'AWSPREVIOUS' }) };
    try {
      type Secret = { readonly SecretString?: string };
      return (await callSecretsManager<Secret>('GetSecretValue', input)).SecretString ?? '';
    } catch (error) {
      // A secret that was never rotated has no previous version.
      if (version && error instanceof ServiceError && error.name === 'ResourceNotFoundException') return '';
      throw error;
    }
  };
}

/** A minimal AWS client, with as little work per call as possible. */
export function createCallService(service: Service, access: AwsAccess, { now, random }: Dependencies): CallService {
  const endpoint = endpointOf(service, access);
  const post = createPost(endpoint);
  const sign = createSign(service, access.region, endpoint);
  const repeat = createRepeat({ now, random });
  /** How far the service's clock is ahead, in milliseconds. Learned once the service complains. */
  let clockOffset = 0;

  return async <Output extends object>(operation: Operation, input: object) => {
    const body = JSON.stringify(input);
    // Read once for all attempts, so that a retry can't fail for lack of credentials.
    const credentials = await access.credentials();
    return repeat(async (number, deadline) => {
      const signable = { operation, body, time: now() + clockOffset, attempt: `attempt=${number}; max=${attempts}` };
      const { text, head } = await post(sign(signable, credentials), body, deadline);
      const { statusCode: status = 0 } = head;
      const answer = parseJson(text);
      if (status === 200 && isObject(answer)) return answer as Output;
      if (status === 200) throw new ServiceError('NoAnswer', 'no JSON');
      const error = refusal(status, isObject(answer) ? answer : {}, credentials);
      const time = error.isAboutTime ? Date.parse(head.headers.date ?? '') : 0;
      if (time > 0) clockOffset = time - now();
      throw error;
    });
  };
}

interface Answer {
  readonly text: string;
  /** Headers are parsed lazily by Node, and only needed for the service's clock. */
  readonly head: IncomingMessage;
}

/** Posts over keep-alive connections, which don't keep the process alive. Rejects if the response is missing or incomplete. */
function createPost(endpoint: URL) {
  const isSecure = endpoint.protocol === 'https:';
  const send = isSecure ? requestByHttps : requestByHttp;
  const agent = new (isSecure ? SecureAgent : PlainAgent)({ keepAlive: true });
  const { hostname, port, path } = urlToHttpOptions(endpoint);
  const options: RequestOptions = { hostname, port, path, method: 'POST', agent };

  return (headers: readonly string[], body: string, deadline: Deadline): Promise<Answer> =>
    new Promise((resolve, reject) => {
      let isAnswered = false;
      const length = ['content-length', String(Buffer.byteLength(body))];
      // Raw headers as a list are cheaper: Node would keep a record for each header of an object.
      const request = send({ ...options, headers: headers.concat(length) }, (head) => {
        isAnswered = true;
        let text = '';
        head.setEncoding('utf8');
        head.on('data', (chunk: string) => (text += chunk));
        head.on('end', () => resolve({ text, head }));
        head.on('error', fail);
      });
      /** Nothing can have been sent before this. */
      let isConnected = request.reusedSocket;
      if (!isConnected) {
        request.once('socket', (socket) => {
          socket.once(isSecure ? 'secureConnect' : 'connect', () => (isConnected = true));
        });
      }
      const fail = (cause: NodeJS.ErrnoException, wasClosed = false) =>
        reject(new ServiceError('NoAnswer', cause.message, { cause, wasClosed, inDoubt: isConnected }));

      // The server may have closed it long ago, unnoticed while Lambda had frozen this process.
      const wasClosed = ({ code = '' }: NodeJS.ErrnoException) =>
        request.reusedSocket && /^(ECONNRESET|EPIPE)$/.test(code);
      request.on('error', (cause) => fail(cause, wasClosed(cause)));
      request.on('close', () => isAnswered || fail(new Error('closed without an answer')));
      deadline.giveUp = () => request.destroy(new Error('given up'));
      request.end(body);
    });
}

/** Turns a refusal into an error. The message may quote the request, so credentials are redacted. */
function refusal(status: number, answer: Readonly<Record<string, unknown>>, credentials: Credentials): ServiceError {
  const { __type, message, Message = message, ...details } = answer;
  const name = typeof __type === 'string' ? __type.replace(/^.*#/, '') : 'UnknownError';
  const secrets = [credentials.secretAccessKey, credentials.sessionToken].filter((secret) => secret !== undefined);
  const quoted = typeof Message === 'string' ? Message : name;
  const text = secrets.reduce((rest, secret) => rest.replaceAll(secret, '…'), quoted);
  return new ServiceError(name, text, { status, details });
}
