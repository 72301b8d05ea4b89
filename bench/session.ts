import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import type { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { startLambdaRuntime } from '../local/runtime/lambda-runtime.ts';
import { measureStep } from './measurement.ts';
import type { Subject } from './subject.ts';
import type { World } from './world/world.ts';

/** When a request was sent and its response arrived, in `performance.now()`. */
export interface Reading {
  readonly askedAt: number;
  readonly firstByteAt: number;
  readonly endAt: number;
}

export interface Asking {
  /** Used in turn; by default the process's own keys. */
  readonly keys?: readonly string[];
  readonly path?: string;
}

export type Session = Awaited<ReturnType<typeof startSession>>;

/** Starts a function in a fresh process, and its client. */
export async function startSession({ name, lambda, environment }: Subject, world: World) {
  // Keys of this session, used in turn, because a counter's item grows with its rate.
  const ownKeys = await world.issueKeys(64);
  const runtime = await startLambdaRuntime(lambda, environment);
  let turn = 0;
  /** Sends a chat, or what the path takes, through the function. */
  async function open(body: string, { keys = ownKeys, path = '/v1/chat/completions' }: Asking = {}) {
    const key = keys[turn++ % keys.length] ?? '';
    const { statusCode, body: answer } = await runtime.invoke(eventOf(path, key, body));
    if (statusCode !== 200) throw new Error(`${name} answered ${statusCode}: ${runtime.output()}`);
    return answer;
  }
  return {
    pid: runtime.pid,
    spawnedAt: runtime.spawnedAt,
    ready: runtime.ready,
    keys: ownKeys,
    open,
    ask: (body: string, asking?: Asking) => readAnswer(() => open(body, asking)),
    /** Milliseconds of CPU time that the function uses for a step. */
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

/** Sends a chat directly to the upstream. */
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
  const [domainName, sourceIp] = ['abcdefghijklmnopqrstuvwxyz012345.lambda-url.eu-central-1.on.aws', '192.0.2.1'];
  return {
    version: '2.0',
    rawPath: path,
    rawQueryString: '',
    body,
    isBase64Encoded: false,
    headers: {
      accept: 'application/json',
      host: domainName,
      'user-agent': 'OpenAI/JS 7.59.0',
      'x-api-key': key,
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      'x-forwarded-for': sourceIp,
      'x-forwarded-port': '443',
      'x-forwarded-proto': 'https',
    },
    requestContext: { domainName, http: { method: 'POST', path, protocol: 'HTTP/1.1', sourceIp } },
  };
}
