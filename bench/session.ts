import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import type { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { startLambdaRuntime } from '../local/runtime/lambda-runtime.ts';
import { measureStep } from './measurement.ts';
import type { Subject } from './subject.ts';
import { keysPerSession, type World } from './world/world.ts';

/** When a request was sent and its answer came, in `performance.now()`. */
export interface Reading {
  readonly askedAt: number;
  readonly firstByteAt: number;
  readonly endAt: number;
}

interface Asking {
  /** Used in turn; by default all that have no budget. */
  readonly keys?: readonly string[];
  readonly path?: string;
}

export type Session = Awaited<ReturnType<typeof startSession>>;

let sessions = 0;

/** Starts a function in a fresh process, and its client. */
export async function startSession({ name, lambda, environment }: Subject, { store }: World) {
  const runtime = await startLambdaRuntime(lambda, environment);
  const start = sessions++ * keysPerSession;
  const own = (all: readonly string[]) => all.slice(start % all.length, (start % all.length) + keysPerSession);
  // No other session uses them at the time, since a counter's item grows with its rate.
  const keysOfSession = { plain: own(store.keys), budget: own(store.keysWithBudget) };
  let turn = 0;
  /** Sends a chat, or what the path takes, through the function. */
  async function open(body: string, { keys = keysOfSession.plain, path = '/v1/chat/completions' }: Asking = {}) {
    const key = keys[turn++ % keys.length] ?? '';
    const { statusCode, body: answer } = await runtime.invoke(eventOf(path, key, body));
    if (statusCode !== 200) throw new Error(`${name} answered ${statusCode}: ${runtime.output()}`);
    return answer;
  }
  return {
    ...{ pid: runtime.pid, spawnedAt: runtime.spawnedAt, keys: keysOfSession, open },
    ask: (body: string, asking?: Asking) => readAnswer(() => open(body, asking)),
    /** Milliseconds of processor time that the function uses for a step. */
    async costOf(step: () => Promise<unknown>): Promise<number> {
      const withRest = async () => {
        await step();
        await setTimeout(20); // for work after the last byte
      };
      return (await measureStep(runtime.pid, withRest)).processor;
    },
    [Symbol.asyncDispose]: () => runtime[Symbol.asyncDispose](),
  };
}

const agent = new Agent({ keepAlive: true });

/** Sends a chat straight to the upstream. */
export function askDirectly({ upstreamUrl }: World, body: string): Promise<Reading> {
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  return readAnswer(async () => {
    const outgoing = request(`${upstreamUrl}/chat/completions`, { method: 'POST', headers, agent }).end(body);
    const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
    return answer;
  });
}

async function readAnswer(open: () => Promise<Readable>): Promise<Reading> {
  const askedAt = performance.now();
  const answer = await open();
  let firstByteAt = 0;
  answer.on('data', () => {
    firstByteAt ||= performance.now();
  });
  await once(answer, 'end');
  return { askedAt, firstByteAt, endAt: performance.now() };
}

/** A request as a Function URL delivers it. */
function eventOf(path: string, key: string, body: string) {
  const [apiId, userAgent, sourceIp] = ['abcdefghijklmnopqrstuvwxyz012345', 'OpenAI/JS 7.55.0', '192.0.2.1'];
  const host = `${apiId}.lambda-url.eu-central-1.on.aws`;
  const routeKey = '$default';
  return {
    ...{ version: '2.0', routeKey, rawPath: path, rawQueryString: '', body, isBase64Encoded: false },
    headers: {
      accept: 'application/json',
      'accept-encoding': 'gzip, deflate',
      'content-length': String(Buffer.byteLength(body)),
      'content-type': 'application/json',
      host,
      'user-agent': userAgent,
      'x-amzn-trace-id': 'Root=1-6920a1b2-0123456789abcdef01234567',
      'x-api-key': key,
      'x-forwarded-for': sourceIp,
      'x-forwarded-port': '443',
      'x-forwarded-proto': 'https',
    },
    requestContext: {
      ...{ accountId: 'anonymous', apiId, domainName: host, domainPrefix: apiId, routeKey, stage: routeKey },
      http: { method: 'POST', path, protocol: 'HTTP/1.1', sourceIp, userAgent },
      requestId: '3f0f5a0e-9c1d-4a69-8a9b-0c4d2f6b7a10',
      ...{ time: '21/Nov/2026:03:00:00 +0000', timeEpoch: 1795230000000 },
    },
  };
}
