import { once } from 'node:events';
import { Readable } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import type { StreamingHandler } from '../../local/function-url.ts';
import { installAwslambda } from '../../local/response-stream.ts';
import { inTime } from '../support/wait-until.ts';
import { exchange, open, withServer } from './local-server.ts';

installAwslambda();
const { default: middy } = await import('@middy/core');
const { executionModeStreamifyResponse } = await import('@middy/core/StreamifyResponse');

interface Answer {
  readonly statusCode: number;
  readonly headers?: Record<string, string>;
  readonly cookies?: string[];
  readonly body: string | Readable;
}

/** A function as the deployed one is built: middy in streaming mode around something that returns an answer. */
function streaming(answer: () => Promise<Answer>): StreamingHandler {
  const handler: unknown = middy({ executionMode: executionModeStreamifyResponse }).handler(answer);
  return handler as StreamingHandler;
}

const get = (path = '/') => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

describe('a response', () => {
  test('has the status, headers and cookies of its head', async () => {
    const handler = streaming(async () => ({
      statusCode: 418,
      headers: { 'Content-Type': 'application/json', 'X-Svc-Limit': '3' },
      cookies: ['a=1; Path=/', 'b=2'],
      body: '{}',
    }));
    await withServer(handler, async (server) => {
      const response = await fetch(server.url);
      expect(response.status).toBe(418);
      expect(response.headers.get('content-type')).toBe('application/json');
      expect(response.headers.get('x-svc-limit')).toBe('3');
      expect(response.headers.getSetCookie()).toEqual(['a=1; Path=/', 'b=2']);
      expect(await response.text()).toBe('{}');
    });
  });

  test('without a body keeps its head', async () => {
    await withServer(
      streaming(async () => ({ statusCode: 204, headers: { 'x-a': 'b' }, body: '' })),
      async (server) => {
        const response = await fetch(server.url);
        expect(response.status).toBe(204);
        expect(response.headers.get('x-a')).toBe('b');
      },
    );
  });

  test('loses its head if nothing is ever written, as on AWS', async () => {
    const handler: StreamingHandler = async (_event, stream) => {
      const out = awslambda.HttpResponseStream.from(stream, { statusCode: 301, headers: { location: '/' } });
      await new Promise<void>((resolve) => out.end(resolve));
    };
    await withServer(handler, async (server) => {
      const response = await fetch(server.url, { redirect: 'manual' });
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toBe('application/octet-stream');
      expect(response.headers.get('location')).toBeNull();
    });
  });

  test('to HEAD has only a head', async () => {
    await withServer(
      streaming(async () => ({ statusCode: 404, headers: { 'x-a': 'b' }, body: 'not for you' })),
      async (server) => {
        const answer = await exchange(server, 'HEAD / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
        expect(answer).toMatch(/^HTTP\/1.1 404 Not Found\r\nx-a: b\r\n/);
        expect(answer).toMatch(/\r\n\r\n$/);
        expect(answer).not.toContain('not for you');
      },
    );
  });

  test('arrives piece by piece, each read before the next is written', async () => {
    const mayGoOn = [Promise.withResolvers<void>(), Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    async function* pieces() {
      await mayGoOn[0]?.promise;
      yield 'one';
      await mayGoOn[1]?.promise;
      yield 'two';
      await mayGoOn[2]?.promise;
      yield 'three';
    }
    await withServer(
      streaming(async () => ({ statusCode: 200, body: Readable.from(pieces()) })),
      async (server) => {
        // The head arrives before the first piece exists.
        const { body } = await fetch(server.url);
        const received: string[] = [];
        mayGoOn[0]?.resolve();
        for await (const piece of body ?? []) {
          received.push(Buffer.from(piece).toString());
          mayGoOn[received.length]?.resolve();
        }
        expect(received).toEqual(['one', 'two', 'three']);
      },
    );
  });

  test('waits for a slow reader', async () => {
    const size = 64 * 1024 * 1024;
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
  test('ends a body in progress', async () => {
    const body = new Readable({ read() {} });
    body.push('first');
    const closed = new Promise((resolve) => body.once('close', resolve));
    const failures: unknown[] = [];
    await withServer(
      streaming(async () => ({ statusCode: 200, body })),
      async (server) => {
        const socket = await open(server, get());
        await once(socket, 'data');
        socket.destroy();
        await inTime(closed, 'the body is closed');
        expect(body.destroyed).toBe(true);
        expect(await exchange(server, 'GARBAGE\r\n\r\n')).toContain('400');
      },
      { onFailure: (error) => failures.push(error) },
    );
    expect(failures).toEqual([]);
  });

  test('is reported to a handler that has not begun to answer', async () => {
    const begun = Promise.withResolvers<void>();
    const heard = Promise.withResolvers<boolean>();
    const handler: StreamingHandler = async (_event, _stream, { clientGone }) => {
      begun.resolve();
      await once(clientGone, 'abort');
      heard.resolve(clientGone.aborted);
    };
    await withServer(handler, async (server) => {
      const socket = await open(server, get());
      await inTime(begun.promise, 'the handler is called');
      socket.end();
      expect(await inTime(heard.promise, 'the handler hears that the client has left')).toBe(true);
    });
  });

  test('releases a writer that waits for it', async () => {
    const outcome = Promise.withResolvers<unknown>();
    const handler: StreamingHandler = async (_event, stream) => {
      try {
        for (let megabytes = 0; megabytes < 200; megabytes += 1) {
          if (!stream.write(Buffer.alloc(1024 * 1024))) await once(stream, 'drain');
        }
        outcome.resolve('never had to wait');
      } catch (error) {
        outcome.resolve(error);
        throw error;
      }
    };
    await withServer(handler, async (server) => {
      const socket = await open(server, get());
      await once(socket, 'data');
      socket.destroy();
      expect(await inTime(outcome.promise, 'the writer is released')).toBeInstanceOf(Error);
    });
  });

  test('in the middle of its request never reaches the handler', async () => {
    let calls = 0;
    const handler: StreamingHandler = async (_event, stream) => {
      calls += 1;
      await new Promise<void>((resolve) => stream.end(resolve));
    };
    await withServer(handler, async (server) => {
      const socket = await open(server, 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf');
      socket.end();
      await inTime(once(socket.resume(), 'close'), 'the connection is closed');
      await fetch(server.url);
      expect(calls).toBe(1);
    });
  });

  test('is not reported once the response has been sent', async () => {
    const signals: AbortSignal[] = [];
    const handler: StreamingHandler = async (_event, stream, { clientGone }) => {
      signals.push(clientGone);
      await new Promise<void>((resolve) => stream.end('ok', resolve));
    };
    await withServer(handler, async (server) => {
      await exchange(server, 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
      expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
    });
  });
});

describe('a function that fails', () => {
  const failing = async (handler: StreamingHandler, functionTimeout?: number) => {
    const failures: unknown[] = [];
    const answers: string[] = [];
    await withServer(
      handler,
      async (server) => {
        for (let round = 0; round < 2; round += 1) {
          answers.push(await exchange(server, 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'));
        }
      },
      { onFailure: (error) => failures.push(error), ...(functionTimeout && { functionTimeout }) },
    );
    expect(failures).toHaveLength(2);
    expect(answers[0]?.replace(/Date: .*/, '')).toBe(answers[1]?.replace(/Date: .*/, ''));
    return { answer: answers[0], failure: String(failures[0]) };
  };

  test.each<[string, StreamingHandler, RegExp]>([
    ['rejects', async () => Promise.reject(new Error('secret')), /secret/],
    [
      'throws',
      () => {
        throw new Error('secret');
      },
      /secret/,
    ],
    ['forgets its stream', async () => {}, /before its stream had ended/],
    [
      'gives an invalid head',
      streaming(async () => ({ statusCode: 200, headers: { 'x-a': 'b\r\nx-c: d' }, body: 'x' })),
      /Invalid character/,
    ],
  ])('before it has answered (%s): 502', async (_name, handler, reason) => {
    const { answer, failure } = await failing(handler);
    expect(answer).toMatch(/^HTTP\/1.1 502 Bad Gateway\r\n/);
    expect(answer).toContain('Internal Server Error');
    expect(answer).not.toContain('secret');
    expect(failure).toMatch(reason);
  });

  test('by reaching its timeout gives 502', async () => {
    const { answer, failure } = await failing(() => new Promise(() => {}), 20);
    expect(answer).toMatch(/^HTTP\/1.1 502/);
    expect(failure).toContain('timeout');
  });

  test('in the middle of its body leaves what was written, without an end', async () => {
    const handler = streaming(async () => ({
      statusCode: 200,
      body: Readable.from(
        (async function* () {
          yield 'first';
          throw new Error('secret');
        })(),
      ),
    }));
    const { answer } = await failing(handler);
    expect(answer).toContain('first');
    expect(answer).not.toMatch(/0\r\n\r\n$/);
    expect(answer).not.toContain('secret');
  });
});

describe('closing', () => {
  test('lets a running stream end and refuses new connections', async () => {
    const begun = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    async function* pieces() {
      yield 'first';
      await release.promise;
      yield 'last';
    }
    await withServer(
      streaming(async () => ({ statusCode: 200, body: Readable.from(pieces()) })),
      async (server) => {
        const response = await fetch(server.url);
        const reader = response.body?.getReader();
        await reader?.read();
        begun.resolve();
        const closed = server.close(60_000);
        await expect(fetch(server.url)).rejects.toThrow();
        release.resolve();
        expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('last');
        expect((await reader?.read())?.done).toBe(true);
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
