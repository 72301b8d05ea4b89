import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import { keepInList } from '../../../lambda/aws/connections.ts';
import { answer, type FakeService, startFakeService } from '../../support/fake-service.ts';
import { testRows } from '../../support/test-rows.ts';
import { inTime } from '../../support/wait-until.ts';

/** A client with such an agent: asks, and gives the answer and its connection. */
function createAsk({ url }: FakeService, maxFreeSockets?: number) {
  const agent = keepInList(new Agent({ keepAlive: true, ...(maxFreeSockets && { maxFreeSockets }) }));
  return async () => {
    const asked = request(url, { agent }).end();
    const [response]: IncomingMessage[] = await once(asked, 'response');
    const { socket, reusedSocket } = asked;
    if (!response || !socket) throw new Error('no answer');
    const freed = once(socket, 'free');
    const body = await text(response);
    await freed;
    return { body, socket, isReused: reusedSocket };
  };
}

testRows<[string, (ours: Socket, theirs: Socket) => unknown]>([
  ['the other side closes', (_, theirs) => theirs.end()],
  ['fails', (_, theirs) => theirs.resetAndDestroy()],
  [
    'receives what nobody has asked for',
    (_, theirs) => theirs.write('HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nforged'),
  ],
  ['is about to be closed', (ours) => ours.destroy()],
])('a connection is not used again that, while it is kept,', async (name, disturb) => {
  await using service = await startFakeService(answer(200, 'first'), answer(200, 'second'));
  const ask = createAsk(service);
  const { socket } = await ask();
  // Whoever waits with `once` would also receive its errors.
  const noticed = new Promise((resolve) => socket.once('close', resolve).once('data', resolve));
  const theirs = service.requests[0]?.socket;
  if (!theirs) throw new Error('nothing was sent');
  disturb(socket, theirs);
  if (!socket.destroyed) await inTime(noticed, `it is noticed that the connection ${name}`);
  expect(await ask()).toMatchObject({ body: 'second', isReused: false });
  expect(await ask()).toMatchObject({ isReused: true });
});

test('of connections that are no longer used, no more are kept than the agent may keep', async () => {
  await using service = await startFakeService(answer(200, ''), answer(200, ''), answer(200, ''));
  const ask = createAsk(service, 2);
  const asked = await Promise.all([ask(), ask(), ask()]);
  expect(asked.filter(({ socket }) => socket.destroyed)).toHaveLength(1);
});
