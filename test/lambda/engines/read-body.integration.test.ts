import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { expect, test } from '@jest/globals';
import { readBody } from '../../../lambda/engines/body.ts';
import { inTime } from '../../support/wait-until.ts';

/** The result of reading a request that a test sends by hand. */
async function reading(
  limit: number,
  head: string,
  send: (socket: Socket) => void,
): Promise<{ readonly body: Buffer | undefined }> {
  const result = Promise.withResolvers<{ readonly body: Buffer | undefined }>();
  const server = createServer(async (request) => result.resolve({ body: await readBody(request, limit) }));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write(`POST / HTTP/1.1\r\nHost: x\r\n${head}\r\n\r\n`);
  send(socket);
  const { body } = await inTime(result.promise, 'the body is read');
  socket.destroy();
  server.close();
  return { body };
}

const text = (length: number) => 'abcdefghij'.repeat(Math.ceil(length / 10)).slice(0, length);

test('a body up to the limit is whole, however it is cut', async () => {
  for (const length of [0, 1, 99, 100]) {
    const { body } = await reading(100, `Content-Length: ${length}`, (socket) => socket.write(text(length)));
    expect(body?.toString()).toBe(text(length));
    const { body: dripped } = await reading(100, 'Transfer-Encoding: chunked', (socket) => {
      for (const letter of text(length)) socket.write(`1\r\n${letter}\r\n`);
      socket.write('0\r\n\r\n');
    });
    expect(dripped?.toString()).toBe(text(length));
  }
});

test('a client that never stops is cut off', async () => {
  const bodies: Promise<Buffer | undefined>[] = [];
  const taken: Socket[] = [];
  const server = createServer((request) => {
    bodies.push(readBody(request, 100));
    taken.push(request.socket);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.on('error', () => {});
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n');
  const chunk = `100000\r\n${'x'.repeat(0x100000)}\r\n`;
  const pour = () => {
    while (!socket.destroyed && socket.write(chunk));
  };
  socket.on('drain', pour);
  pour();
  await inTime(closed, 'the client is cut off');
  server.close();
  expect((await Promise.all(bodies)).map((body) => body?.length)).toEqual([101]);
  // It reads 64 MiB more so that the client sees its answer, and what was in transit when the connection was cut.
  const [{ bytesRead = 0 } = {}] = taken;
  expect(bytesRead).toBeGreaterThan(64 * 0x100000);
  expect(bytesRead).toBeLessThan(66 * 0x100000);
});
