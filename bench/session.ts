import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { startLambdaRuntime } from '../local/runtime/lambda-runtime.ts';
import { processorTime } from './process-figures.ts';
import type { Subject } from './subject.ts';
import { keysInTurn, keysPerSession } from './world/store.ts';
import type { World } from './world/world.ts';

/** When the parts of an answer came, in `performance.now()`, and its size. */
export interface Reading {
  readonly askedAt: number;
  readonly headAt: number;
  readonly firstByteAt: number;
  readonly endAt: number;
  readonly bytes: number;
}

/** Receives each piece of an answer; a promise that it returns delays the next. */
export type Watch = (piece: Buffer) => unknown;

/** A function in a fresh process, and its client. */
export interface Session extends AsyncDisposable {
  readonly pid: number;
  readonly spawnedAt: number;
  readonly loaded: Promise<void>;
  /** Sends a chat, or what the path takes, through the function and reads the answer to its end. */
  ask(body: string, watch?: Watch, path?: string): Promise<Reading>;
  /** The same, always with one key of its own. */
  askBusily(body: string): Promise<Reading>;
  /** The same with keys that have a budget. */
  askWithBudget(body: string): Promise<Reading>;
  /** Milliseconds of processor time that the function uses for a step. */
  costOf(step: () => Promise<unknown>): Promise<number>;
}

const chatPath = '/v1/chat/completions';

let sessions = 0;

export async function startSession(subject: Subject, { store }: World): Promise<Session> {
  const runtime = await startLambdaRuntime(subject.lambda, subject.environment);
  const session = sessions++;
  const firstKey = (session * keysPerSession) % store.keys.length;
  const firstWithBudget = (session * keysInTurn) % store.keysWithBudget.length;
  let turn = 0;
  const member = (number: number): Caller => ({ key: store.keys[firstKey + number] ?? '', address: '192.0.2.1' });
  /** In a network of its own. A session has callers of its own, since a counter's item grows with its rate. */
  const guest = (number: number): Caller => {
    const network = firstKey + number;
    return { key: 'anything', address: `198.18.${network >> 8}.${network & 255}` };
  };
  const callerOf = subject.name === 'gatewayGuest' ? guest : member;
  const withBudget = (number: number): Caller => ({
    ...member(number),
    key: store.keysWithBudget[firstWithBudget + number] ?? '',
  });
  const askWith = async (caller: Caller, body: string, watch?: Watch, path = chatPath): Promise<Reading> => {
    const askedAt = performance.now();
    const { statusCode, body: answer } = await runtime.invoke(eventOf(path, caller, body));
    const headAt = performance.now();
    if (statusCode !== 200) throw new Error(`${subject.name} answered ${statusCode}: ${runtime.output()}`);
    return { askedAt, headAt, ...(await readAnswer(answer, watch)) };
  };
  return {
    pid: runtime.pid,
    spawnedAt: runtime.spawnedAt,
    loaded: runtime.loaded,
    ask: (body, watch, path) => askWith(callerOf(turn++ % keysInTurn), body, watch, path),
    askBusily: (body) => askWith(callerOf(keysInTurn), body),
    askWithBudget: (body) => askWith(withBudget(turn++ % keysInTurn), body),
    async costOf(step) {
      const before = processorTime(runtime.pid);
      await step();
      await setTimeout(20); // for work after the last byte
      return processorTime(runtime.pid) - before;
    },
    [Symbol.asyncDispose]: () => runtime[Symbol.asyncDispose](),
  };
}

/** Reads an answer to its end. */
export async function readAnswer(answer: Readable, watch?: Watch): Promise<Omit<Reading, 'askedAt' | 'headAt'>> {
  let firstByteAt = 0;
  let bytes = 0;
  const receive = (piece: Buffer) => {
    if (bytes === 0) firstByteAt = performance.now();
    bytes += piece.length;
    return watch?.(piece);
  };
  if (watch) for await (const piece of answer) await receive(piece);
  else await once(answer.on('data', receive), 'end');
  return { firstByteAt, endAt: performance.now(), bytes };
}

interface Caller {
  readonly key: string;
  readonly address: string;
}

/** A request as a Function URL delivers it. */
function eventOf(path: string, { key, address }: Caller, body: string) {
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath: path,
    rawQueryString: '',
    headers: {
      accept: 'application/json',
      'accept-encoding': 'gzip, deflate',
      'content-length': String(Buffer.byteLength(body)),
      'content-type': 'application/json',
      host: 'abcdefghijklmnopqrstuvwxyz012345.lambda-url.eu-central-1.on.aws',
      'user-agent': 'OpenAI/JS 7.55.0',
      'x-amzn-trace-id': 'Root=1-6920a1b2-0123456789abcdef01234567',
      'x-api-key': key,
      'x-forwarded-for': address,
      'x-forwarded-port': '443',
      'x-forwarded-proto': 'https',
    },
    requestContext: {
      accountId: 'anonymous',
      apiId: 'abcdefghijklmnopqrstuvwxyz012345',
      domainName: 'abcdefghijklmnopqrstuvwxyz012345.lambda-url.eu-central-1.on.aws',
      domainPrefix: 'abcdefghijklmnopqrstuvwxyz012345',
      http: { method: 'POST', path, protocol: 'HTTP/1.1', sourceIp: address, userAgent: 'OpenAI/JS 7.55.0' },
      requestId: '3f0f5a0e-9c1d-4a69-8a9b-0c4d2f6b7a10',
      routeKey: '$default',
      stage: '$default',
      time: '21/Nov/2026:03:00:00 +0000',
      timeEpoch: 1795230000000,
    },
    body,
    isBase64Encoded: false,
  };
}
