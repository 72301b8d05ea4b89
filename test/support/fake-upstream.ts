import { EventEmitter, once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { flood, head, json, type Script } from '../../local/upstream/script.ts';
import { type Incoming, startUpstream } from '../../local/upstream/server.ts';
import { inTime } from './wait-until.ts';

export interface RecordedRequest extends Pick<Incoming, 'reused' | 'closed'> {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Names and values alternating, exactly as received. */
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  /** How much of the response's body has been written to the connection so far. */
  readonly bytesWritten: number;
}

/** A script, or a function that chooses one for a request. */
export type Answer = Script | ((request: RecordedRequest) => Script | Promise<Script>);

export type FakeUpstream = Awaited<ReturnType<typeof startFakeUpstream>>;

/** An upstream that records its requests and answers them in order. */
export async function startFakeUpstream() {
  const queue: Answer[] = [];
  const requests: RecordedRequest[] = [];
  const arrivals = new EventEmitter();
  let fallback: Answer = json(500, { error: { message: 'the test scripted no answer for this request' } });

  const upstream = await startUpstream(async (incoming) => {
    const request = await record(incoming);
    requests.push(request);
    const answer = queue.shift() ?? fallback;
    arrivals.emit('recorded');
    return typeof answer === 'function' ? answer(request) : answer;
  });

  return {
    ...upstream,
    /** All requests, in the order in which their bodies arrived. */
    requests: requests as readonly RecordedRequest[],
    /** Waits for the request with this index. */
    async arrival(index: number) {
      for (;;) {
        const request = requests[index];
        if (request) return request;
        await inTime(once(arrivals, 'recorded'), `request ${index + 1} is upstream`);
      }
    },
    /** Queues answers, one per request. */
    answer: (...answers: Answer[]) => {
      queue.push(...answers);
    },
    /** The answer when the queue is empty. */
    otherwise: (answer: Answer) => {
      fallback = answer;
    },
    [Symbol.asyncDispose]: upstream.close,
  };
}

async function record(incoming: Incoming): Promise<RecordedRequest> {
  const { message, reused } = incoming;
  const { method = '', url: path = '', headers, rawHeaders } = message;
  return {
    method,
    path,
    headers,
    rawHeaders,
    reused,
    body: await buffer(message),
    get bytesWritten() {
      return incoming.bytesWritten;
    },
    get closed() {
      const over = inTime(incoming.closed, 'a request upstream is over');
      over.catch(() => {});
      return over;
    },
  };
}

const eagerSize = 32 * 1024 * 1024;

/**
 * How much of a response is written before back-pressure stops it. It has stopped once nothing more is written while another
 * client reads a whole response, in a thousand chunks, through the same event loop.
 */
export async function bytesOnceStill({ url, answer }: FakeUpstream, request: RecordedRequest): Promise<number> {
  for (let before = -1; ; ) {
    const now = request.bytesWritten;
    if (now === before) return now;
    before = now;
    answer([head(200), flood(eagerSize)]);
    await (await fetch(url)).arrayBuffer();
  }
}

/** A base address that refuses every connection. (A port that was just free might belong to another server by now.) */
export const refusingUrl = 'http://127.0.0.1:1/v1';
