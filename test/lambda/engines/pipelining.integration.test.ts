import { expect, test } from '@jest/globals';
import { turnEventLoop, waitUntil } from '../../support/wait-until.ts';
import { openRaw, type RawClient, serveApp } from './raw-client.ts';

/** A server whose responses wait until they are released, and that records which requests it has started. */
async function serveHeldBack() {
  const begun: string[] = [];
  const released = Promise.withResolvers<void>();
  const server = await serveApp(async ({ path }) => {
    begun.push(path);
    await released.promise;
    return { statusCode: 200, headers: {}, body: `<${path}>` };
  });
  return Object.assign(server, { begun, release: released.resolve });
}

const requests = (count: number) =>
  Array.from({ length: count }, (_, index) => `GET /${index} HTTP/1.1\r\nhost: x\r\n\r\n`).join('');

/** Waits until the system takes no more of what a client sends. */
async function stillness({ socket }: RawClient): Promise<void> {
  let unchanged = 0;
  let before = -1;
  await waitUntil(() => {
    unchanged = socket.writableLength === before ? unchanged + 1 : 0;
    before = socket.writableLength;
    return unchanged > 200;
  }, 'nothing more is sent');
}

test('of pipelined requests, 16 are answered at a time, and all in order', async () => {
  await using server = await serveHeldBack();
  const client = await openRaw(server.url);
  client.send(requests(1_000));
  await waitUntil(() => server.begun.length >= 16, 'sixteen have begun');
  await turnEventLoop(50);
  expect(server.begun).toHaveLength(16);
  server.release();
  const text = await client.until(/<\/999>/);
  const paths = Array.from({ length: 1_000 }, (_, index) => `</${index}>`);
  expect(text.match(/<.*?>/g)).toEqual(paths);
  client.socket.destroy();
});

test('the requests of one read are not answered in one turn of the event loop', async () => {
  let begun = 0;
  let isOver = false;
  const turns: number[] = [];
  const turn = () => {
    turns.push(begun);
    begun = 0;
    if (!isOver) setImmediate(turn);
  };
  await using server = await serveApp(async ({ path }) => {
    begun += 1;
    return { statusCode: 200, headers: {}, body: `<${path}>` };
  });
  const client = await openRaw(server.url);
  turn();
  client.send(requests(1_000));
  await client.until(/<\/999>/);
  isOver = true;
  expect(Math.max(...turns)).toBeLessThan(100);
  client.socket.destroy();
});

test('beyond them, a connection is paused', async () => {
  await using server = await serveHeldBack();
  const client = await openRaw(server.url);
  client.socket.pause();
  // More than the system's buffers hold.
  client.send(`GET /${'x'.repeat(1_000)} HTTP/1.1\r\nhost: x\r\n\r\n`.repeat(15_000));
  await stillness(client);
  expect(client.socket.writableLength).toBeGreaterThan(0);
  expect(client.socket.destroyed).toBe(false);
  client.socket.destroy();
  await waitUntil(() => client.socket.closed, 'it is closed');
});

test('when very many requests are waiting, a connection that adds more is closed, and those that close free their places', async () => {
  await using server = await serveHeldBack();
  const open = (count: number) => Promise.all(Array.from({ length: count }, () => openRaw(server.url)));
  const clients = await open(6);
  for (const client of clients) client.send(requests(3_000));
  await waitUntil(() => clients.some(({ socket }) => socket.destroyed), 'one is closed');
  const [staying, ...leaving] = clients.filter(({ socket }) => !socket.destroyed);
  for (const { socket } of leaving) socket.resetAndDestroy();
  server.release();
  expect(await staying?.until(/<\/2999>/)).toMatch(/^HTTP\/1.1 200 OK/);
  const others = await open(2);
  for (const client of others) client.send(requests(3_000));
  for (const client of others) await client.until(/<\/2999>/);
  for (const { socket } of [...clients, ...others]) socket.destroy();
});
