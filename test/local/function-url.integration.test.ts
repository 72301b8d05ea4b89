import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from '@jest/globals';
import {
  type FunctionUrl,
  type Invocation,
  type StreamingHandler,
  startFunctionUrl,
} from '../../local/function-url.ts';
import { installAwslambda } from '../../local/response-stream.ts';
import { createStreamReader } from '../support/stream-reader.ts';
import { testRows } from '../support/test-rows.ts';
import { inTime } from '../support/wait-until.ts';

installAwslambda();
const { default: middy } = await import('@middy/core');
const { executionModeStreamifyResponse } = await import('@middy/core/StreamifyResponse');

interface Answer {
  readonly statusCode: number;
  readonly headers?: Record<string, string>;
  readonly body: string | Readable;
}

/** A function as the deployed one is built: middy in streaming mode around something that returns an answer. */
function streaming(answer: () => Promise<Answer>): StreamingHandler {
  const handler: unknown = middy({ executionMode: executionModeStreamifyResponse }).handler(answer);
  return handler as StreamingHandler;
}

/** Runs a test against a handler on a free port, and stops the server afterwards. */
async function withServer(
  handler: StreamingHandler,
  test: (server: FunctionUrl) => Promise<void>,
  options: Partial<Invocation> = {},
): Promise<void> {
  const server = await startFunctionUrl({ handler, host: '127.0.0.1', port: 0, ...options });
  try {
    await test(server);
  } finally {
    await server.close(0);
  }
}

/** A connection on which the given bytes have been sent. */
async function open(server: FunctionUrl, bytes: string): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port: server.port });
  await once(socket, 'connect');
  socket.write(bytes);
  return socket;
}

/** Sends bytes as they are and collects everything that comes until the server closes. */
async function exchange(server: FunctionUrl, bytes: string): Promise<string> {
  return inTime(text(await open(server, bytes)), 'the server has closed the connection');
}

const get = (path = '/') => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
const getOnce = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';

/** What a client gets that follows no redirects. */
async function readAnswer({ url }: FunctionUrl) {
  const response = await fetch(url, { redirect: 'manual' });
  return { status: response.status, headers: response.headers, body: await response.text() };
}

test('the event names the path, the query, the headers and the address of the connection', async () => {
  const head = 'GET /v1/models/a%2Fb?x=1&y=a%20b HTTP/1.1\r\nHost: localhost:1234\r\nX-Twice: one\r\nx-twice: two\r\n';
  const calls: unknown[] = [];
  const handler: StreamingHandler = async (event, stream, context) => {
    calls.push([event, context.getRemainingTimeInMillis() > 800_000]);
    await new Promise<void>((resolve) => stream.end('ok', resolve));
  };
  await withServer(handler, async (server) => {
    await exchange(server, `${head}X-Forwarded-For: 203.0.113.7\r\nConnection: close\r\n\r\n`);
  });
  const path = '/v1/models/a%2Fb';
  const event = {
    ...{ version: '2.0', rawPath: path, rawQueryString: 'x=1&y=a%20b', isBase64Encoded: false },
    headers: {
      ...{ host: 'localhost:1234', 'x-twice': 'one,two' },
      ...{ 'x-forwarded-for': '203.0.113.7', connection: 'close' },
    },
    requestContext: { domainName: 'localhost', http: { method: 'GET', path, sourceIp: '127.0.0.1' } },
  };
  expect(calls).toEqual([[event, true]]);
});

const euro = Buffer.from('{"a":"€"}');
const broken = Buffer.from([0x7b, 0xff, 0x7d]);
const limit = 6_291_456;
testRows<[type: string | undefined, sent: Uint8Array, body: string | undefined, isBase64Encoded: boolean]>([
  ['application/json', euro, '{"a":"€"}', false],
  ['Text/Plain; charset=utf-8', euro, '{"a":"€"}', false],
  ['application/json', broken, 'e/99', true],
  ['image/png', euro, euro.toString('base64'), true],
  [undefined, Buffer.from('hi'), 'aGk=', true],
  ['application/json', Buffer.alloc(0), undefined, false],
  ['application/json', Buffer.alloc(limit, 'x'), 'x'.repeat(limit), false],
  // The gateway refuses it by itself.
  ['application/json', Buffer.alloc(2 * limit, 'x'), 'x'.repeat(limit + 1), false],
])(
  'a body is text or base64 as on AWS, and one byte longer than the limit at most',
  async (type, sent, body, base64) => {
    const handler: StreamingHandler = async (event, stream) => {
      expect([event.body === body, event.isBase64Encoded]).toEqual([true, base64]);
      await new Promise<void>((resolve) => stream.end('ok', resolve));
    };
    await withServer(handler, async ({ url }) => {
      const response = await fetch(url, { method: 'POST', headers: type ? { 'content-type': type } : {}, body: sent });
      expect(await response.text()).toBe('ok');
    });
  },
);

test('a body that is too large is read to its end, so that its client gets the answer', async () => {
  const handler = streaming(async () => ({ statusCode: 413, body: 'less' }));
  await withServer(handler, async (server) => {
    const head = 'POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 30000000\r\n\r\n';
    const client = await open(server, head);
    for (let sent = 0; sent < 30; sent += 1) {
      if (!client.write(Buffer.alloc(1_000_000))) await inTime(once(client, 'drain'), 'the server has read on');
    }
    expect(await inTime(text(client), 'the answer has come')).toMatch(/^HTTP\/1\.1 413 .*less/s);
  });
});

test('a client that waits to be asked for its body is asked', async () => {
  const handler = streaming(async () => ({ statusCode: 200, body: 'thanks' }));
  await withServer(handler, async (server) => {
    const client = await open(
      server,
      'POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\nConnection: close\r\n\r\n',
    );
    const [asked] = await inTime(once(client, 'data'), 'the client has been asked for its body');
    expect(String(asked)).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    client.write('hello');
    expect(await inTime(text(client), 'the answer has come')).toMatch(/^HTTP\/1\.1 200 OK.*thanks/s);
  });
});

describe('a response', () => {
  test.each([
    [418, '{}'],
    [204, ''],
  ])('has the head %d and the body %j, and after HEAD only the head', async (statusCode, body) => {
    const handler = streaming(async () => ({ statusCode, headers: { 'X-Svc-Limit': '3' }, body }));
    await withServer(handler, async (server) => {
      const { status, headers, body: read } = await readAnswer(server);
      expect([status, headers.get('x-svc-limit'), read]).toEqual([statusCode, '3', body]);
      const head = await exchange(server, getOnce.replace('GET', 'HEAD'));
      expect(head).toMatch(new RegExp(`^HTTP/1.1 ${statusCode} .*\r\n\r\n$`, 's'));
    });
  });

  test('loses its head if nothing is ever written, as on AWS', async () => {
    const handler: StreamingHandler = async (_event, stream) => {
      const out = awslambda.HttpResponseStream.from(stream, { statusCode: 301, headers: { location: '/' } });
      await new Promise<void>((resolve) => out.end(resolve));
    };
    await withServer(handler, async (server) => {
      const { status, headers } = await readAnswer(server);
      expect([status, headers.get('content-type')]).toEqual([200, 'application/octet-stream']);
      expect(headers.get('location')).toBeNull();
    });
  });

  test('arrives piece by piece, its head before the first, and each read before the next is written', async () => {
    const mayGoOn = Array.from({ length: 3 }, () => Promise.withResolvers<void>());
    async function* pieces() {
      for (const [index, { promise }] of mayGoOn.entries()) {
        await promise;
        yield `${index}`;
      }
    }
    await withServer(
      streaming(async () => ({ statusCode: 200, body: Readable.from(pieces()) })),
      async (server) => {
        const { body } = await fetch(server.url);
        const received: string[] = [];
        mayGoOn[0]?.resolve();
        for await (const piece of body ?? []) {
          received.push(Buffer.from(piece).toString());
          mayGoOn[received.length]?.resolve();
        }
        expect(received).toEqual(['0', '1', '2']);
      },
    );
  });

  test('waits for a slow reader', async () => {
    const size = 24 * 1024 * 1024;
    const chunk = Buffer.alloc(64 * 1024, 'x');
    const produced = new Map<string, number>();
    const handler: StreamingHandler = async (event, stream) => {
      for (let sent = 0; sent < size; sent += chunk.length) {
        produced.set(event.rawPath, sent);
        if (!stream.write(chunk)) await once(stream, 'drain');
      }
      await new Promise<void>((resolve) => stream.end(resolve));
      produced.set(event.rawPath, size);
    };
    await withServer(handler, async (server) => {
      const slow = await open(server, get('/slow'));
      slow.pause();
      // By the time an eager reader has everything, a writer that does not wait would have written everything too.
      expect((await (await fetch(`${server.url}/eager`)).arrayBuffer()).byteLength).toBe(size);
      expect(produced.get('/slow')).toBeLessThan(size / 2);
      let received = 0;
      for await (const bytes of slow) {
        received += bytes.length;
        if (received > size) break;
      }
      expect(produced.get('/slow')).toBe(size);
    });
  });
});

describe('a client that leaves', () => {
  test('ends a body in progress, without a failure', async () => {
    const body = new Readable({ read() {} });
    body.push('first');
    const closed = new Promise((resolve) => body.once('close', resolve));
    const failures: unknown[] = [];
    const onFailure = (error: unknown) => failures.push(error);
    const leave = async (server: FunctionUrl) => {
      const socket = await open(server, get());
      await once(socket, 'data');
      socket.destroy();
      await inTime(closed, 'the body is closed');
      // By the next answer a failure would have been told.
      expect(await exchange(server, 'GARBAGE\r\n\r\n')).toContain('400');
    };
    await withServer(
      streaming(async () => ({ statusCode: 200, body })),
      leave,
      { onFailure },
    );
    expect(failures).toEqual([]);
  });

  test('is reported to a handler that has not begun to answer', async () => {
    const begun = Promise.withResolvers<void>();
    const heard = Promise.withResolvers<void>();
    const handler: StreamingHandler = async (_event, _stream, { clientGone }) => {
      clientGone.addEventListener('abort', () => heard.resolve());
      begun.resolve();
      await heard.promise;
    };
    await withServer(handler, async (server) => {
      const socket = await open(server, get());
      await inTime(begun.promise, 'the handler is called');
      socket.end();
      await inTime(heard.promise, 'the handler hears that the client has left');
    });
  });

  test('releases a writer that waits for it', async () => {
    const outcome = Promise.withResolvers<unknown>();
    const handler: StreamingHandler = async (_event, stream) => {
      const write = async () => {
        for (;;) if (!stream.write(Buffer.alloc(1024 * 1024))) await once(stream, 'drain');
      };
      await write().catch(outcome.resolve);
    };
    await withServer(handler, async (server) => {
      const socket = await open(server, get());
      await once(socket, 'data');
      socket.destroy();
      expect(await inTime(outcome.promise, 'the writer is released')).toBeInstanceOf(Error);
    });
  });

  test('in the middle of its request never reaches the handler; after its answer it is not reported', async () => {
    const signals: AbortSignal[] = [];
    const handler: StreamingHandler = async (_event, stream, { clientGone }) => {
      signals.push(clientGone);
      await new Promise<void>((resolve) => stream.end('ok', resolve));
    };
    await withServer(handler, async (server) => {
      const socket = await open(server, 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf');
      socket.end();
      await inTime(once(socket.resume(), 'close'), 'the connection is closed');
      await exchange(server, getOnce);
      expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
    });
  });
});

describe('a function that fails', () => {
  /** The answer of its second call, which is that of its first. */
  const failing = async (handler: StreamingHandler, options: { functionTimeout?: number } = {}) => {
    const failures: unknown[] = [];
    const answers: string[] = [];
    const call = async (server: FunctionUrl) => {
      for (let round = 0; round < 2; round += 1) {
        answers.push((await exchange(server, getOnce)).replace(/Date: .*/, ''));
      }
    };
    await withServer(handler, call, { onFailure: (error) => failures.push(error), ...options });
    expect(failures).toHaveLength(2);
    expect(answers[0]).toBe(answers[1]);
    return { answer: answers[0], failure: String(failures[0]) };
  };
  const secret = () => {
    throw new Error('secret');
  };

  test.each<[string, StreamingHandler, RegExp]>([
    ['rejects', async () => secret(), /secret/],
    ['throws', secret, /secret/],
    ['forgets its stream', async () => {}, /before its stream had ended/],
    ['reaches its timeout', () => new Promise(() => {}), /timeout/],
    [
      'gives an invalid head',
      streaming(async () => ({ statusCode: 200, headers: { 'x-a': 'b\r\nx-c: d' }, body: 'x' })),
      /Invalid character/,
    ],
  ])('before it has answered (%s): 502', async (name, handler, reason) => {
    const { answer, failure } = await failing(handler, name === 'reaches its timeout' ? { functionTimeout: 20 } : {});
    expect(answer).toMatch(/^HTTP\/1.1 502 Bad Gateway\r\n.*Internal Server Error/s);
    expect(answer).not.toContain('secret');
    expect(failure).toMatch(reason);
  });

  test('in the middle of its body leaves what was written, without an end', async () => {
    async function* pieces() {
      yield 'first';
      secret();
    }
    const { answer } = await failing(streaming(async () => ({ statusCode: 200, body: Readable.from(pieces()) })));
    expect(answer).toMatch(/first\r\n$/);
    expect(answer).not.toContain('secret');
  });
});

describe('closing', () => {
  test('lets a running stream end and refuses new connections', async () => {
    const release = Promise.withResolvers<void>();
    async function* pieces() {
      yield 'first';
      await release.promise;
      yield 'last';
    }
    await withServer(
      streaming(async () => ({ statusCode: 200, body: Readable.from(pieces()) })),
      async (server) => {
        const reader = createStreamReader(await fetch(server.url));
        await reader.until(/first/);
        const closed = server.close(60_000);
        await expect(fetch(server.url)).rejects.toThrow();
        release.resolve();
        expect(await reader.rest()).toBe('firstlast');
        await closed;
      },
    );
  });

  test('cuts what does not end, and waits for its last write', async () => {
    const lastWord: string[] = [];
    const handler: StreamingHandler = async (_event, stream, { clientGone }) => {
      stream.write('first');
      await once(clientGone, 'abort');
      await new Promise((resolve) => setImmediate(resolve));
      lastWord.push('settled');
    };
    await withServer(handler, async (server) => {
      const socket = await open(server, get());
      await once(socket, 'data');
      await server.close(1);
      expect(lastWord).toEqual(['settled']);
      socket.destroy();
    });
  });
});
