import { describe, expect, test } from '@jest/globals';
import type { LambdaFunctionURLEvent } from 'aws-lambda';
import type { LocalContext, StreamingHandler } from '../../local/function-url.ts';
import { exchange, withServer } from './local-server.ts';

/** A handler that remembers its events. */
function recorder() {
  const calls: { event: LambdaFunctionURLEvent; context: LocalContext }[] = [];
  const handler: StreamingHandler = async (event, stream, context) => {
    calls.push({ event, context });
    await new Promise<void>((resolve) => stream.end('ok', resolve));
  };
  const last = () => {
    const call = calls.at(-1);
    if (!call) throw new Error('the handler was not called');
    return call;
  };
  return { handler, last, calls };
}

describe('the event', () => {
  test('has the shape of a Function URL event', async () => {
    const { handler, last } = recorder();
    await withServer(handler, async (server) => {
      const before = Date.now();
      await exchange(
        server,
        [
          'GET /v1/models/a%2Fb?x=1&y=a%20b&x=2 HTTP/1.1',
          `Host: localhost:${server.port}`,
          'User-Agent: probe/1',
          'X-Twice: one',
          'x-twice: two',
          'Cookie: a=1; b=2',
          'X-Forwarded-For: 203.0.113.7',
          'Connection: close',
          '\r\n',
        ].join('\r\n'),
      );
      const { event, context } = last();
      const { timeEpoch, requestId, time } = event.requestContext;
      expect(event).toEqual({
        version: '2.0',
        routeKey: '$default',
        rawPath: '/v1/models/a%2Fb',
        rawQueryString: 'x=1&y=a%20b&x=2',
        cookies: ['a=1', 'b=2'],
        headers: {
          host: `localhost:${server.port}`,
          'user-agent': 'probe/1',
          'x-twice': 'one,two',
          'x-forwarded-for': '203.0.113.7',
          connection: 'close',
        },
        queryStringParameters: { x: '1,2', y: 'a b' },
        requestContext: {
          accountId: 'anonymous',
          apiId: 'local',
          domainName: 'localhost',
          domainPrefix: 'localhost',
          http: {
            method: 'GET',
            path: '/v1/models/a%2Fb',
            protocol: 'HTTP/1.1',
            sourceIp: '127.0.0.1',
            userAgent: 'probe/1',
          },
          requestId,
          routeKey: '$default',
          stage: '$default',
          time,
          timeEpoch,
        },
        isBase64Encoded: false,
      });
      expect(timeEpoch).toBeGreaterThanOrEqual(before);
      expect(time).toMatch(/^\d\d\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d:\d\d \+0000$/);
      expect(context.awsRequestId).toBe(requestId);
      expect(context.getRemainingTimeInMillis()).toBeGreaterThan(890_000);
      expect(context.getRemainingTimeInMillis()).toBeLessThanOrEqual(900_000);
    });
  });

  const euro = Buffer.from('{"a":"€"}');
  const broken = Buffer.from([0x7b, 0xff, 0x7d]);
  test.each([
    ['application/json', euro, false],
    ['Application/JSON; charset=utf-8', euro, false],
    ['text/plain', euro, false],
    ['application/xml', euro, false],
    ['application/javascript', euro, false],
    ['application/json', broken, true],
    ['application/octet-stream', euro, true],
    ['application/x-www-form-urlencoded', euro, true],
    ['image/png', broken, true],
  ])('%s %j: base64 %j', async (contentType, body, isBase64Encoded) => {
    const { handler, last } = recorder();
    await withServer(handler, async (server) => {
      await fetch(server.url, { method: 'POST', headers: { 'content-type': contentType }, body });
      const { event } = last();
      expect(event.isBase64Encoded).toBe(isBase64Encoded);
      expect(Buffer.from(event.body ?? '', isBase64Encoded ? 'base64' : 'utf8')).toEqual(body);
    });
  });

  test('encodes a body without a content type in base64, and leaves out an empty one', async () => {
    const { handler, last } = recorder();
    await withServer(handler, async (server) => {
      await exchange(server, 'POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi');
      expect(last().event).toMatchObject({ body: 'aGk=', isBase64Encoded: true });
      await exchange(server, 'POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
      expect(last().event).not.toHaveProperty('body');
      expect(last().event.isBase64Encoded).toBe(false);
    });
  });

  test('has the whole of a chunked body', async () => {
    const { handler, last } = recorder();
    await withServer(handler, async (server) => {
      const chunks = [...'{"a":1}'].map((letter) => `1\r\n${letter}\r\n`).join('');
      await exchange(
        server,
        `POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n${chunks}0\r\n\r\n`,
      );
      expect(last().event.body).toBe('{"a":1}');
    });
  });
});

describe('a body at the limit of 6 MiB', () => {
  const limit = 6_291_456;
  const post = async (url: string, size: number) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: Buffer.alloc(size, 'x'),
    });
    return await response.text();
  };

  test('arrives whole, and a longer one with just one byte more', async () => {
    const { handler, last } = recorder();
    await withServer(handler, async (server) => {
      expect(await post(server.url, limit)).toBe('ok');
      expect(last().event.body).toHaveLength(limit);
      expect(await post(server.url, limit + 1)).toBe('ok');
      expect(last().event.body).toHaveLength(limit + 1);
      expect(await post(server.url, 3 * limit)).toBe('ok');
      expect(last().event.body).toHaveLength(limit + 1);
    });
  });

  test('is answered even if the client sends it all before it reads, and the connection stays open', async () => {
    const { handler, calls } = recorder();
    await withServer(handler, async (server) => {
      const size = 4 * limit;
      const head = `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${size}\r\n\r\n`;
      const next = 'GET /next HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
      const answers = await exchange(server, head + 'x'.repeat(size) + next);
      expect(answers.match(/HTTP\/1.1 200 OK/g)).toHaveLength(2);
      expect(calls.map(({ event }) => event.rawPath)).toEqual(['/', '/next']);
    });
  });
});
