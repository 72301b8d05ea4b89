import { once } from 'node:events';
import { type AgentOptions, type IncomingMessage, request } from 'node:http';
import { createServer as createHttpsServer, request as requestSecurely } from 'node:https';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import { hasIdle, PlainAgent, SecureAgent } from '../../lambda/http/connections.ts';
import { answer, type FakeService, startFakeService } from '../support/fake-service.ts';
import { testRows } from '../support/test-rows.ts';
import { trustCertificate } from '../support/trusted-certificate.ts';
import { inTime } from '../support/wait-until.ts';

/** A client with this agent. It calls a service, and returns the response and its connection. */
function createAsk(options?: AgentOptions) {
  const agent = new PlainAgent({ keepAlive: true, ...options });
  return async ({ url }: FakeService) => {
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
  ['receives unsolicited data', (_, theirs) => theirs.write('HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nforged')],
  ['is about to be closed', (ours) => ours.destroy()],
])('an idle connection that was disturbed is not reused', async (name, disturb) => {
  await using service = await startFakeService(answer(200, 'first'), answer(200, 'second'));
  const ask = createAsk();
  const { socket } = await ask(service);
  // `once` would also catch the connection's errors.
  const noticed = new Promise((resolve) => socket.once('close', resolve).once('data', resolve));
  const theirs = service.requests[0]?.socket;
  if (!theirs) throw new Error('nothing was sent');
  disturb(socket, theirs);
  if (!socket.destroyed) await inTime(noticed, `it is noticed that the connection ${name}`);
  expect(await ask(service)).toMatchObject({ body: 'second', isReused: false });
  expect(await ask(service)).toMatchObject({ isReused: true });
});

test('no more idle connections are kept alive than the agent allows', async () => {
  await using service = await startFakeService(answer(200, ''), answer(200, ''), answer(200, ''));
  const ask = createAsk({ maxFreeSockets: 2 });
  const asked = await Promise.all([ask(service), ask(service), ask(service)]);
  expect(asked.filter(({ socket }) => socket.destroyed)).toHaveLength(1);
});

test('each address has its own connections', async () => {
  await using service = await startFakeService(answer(200, 'one'));
  await using another = await startFakeService(answer(200, 'another'));
  const ask = createAsk();
  for (const isReused of [false, true]) {
    expect(await ask(service)).toMatchObject({ body: 'one', isReused });
    expect(await ask(another)).toMatchObject({ body: 'another', isReused });
  }
});

test('at the limit of connections, a waiting request gets the next free one', async () => {
  await using service = await startFakeService(answer(200, ''));
  const ask = createAsk({ maxTotalSockets: 1 });
  const asked = await inTime(Promise.all([ask(service), ask(service), ask(service)]), 'all three have their turn');
  expect(new Set(asked.map(({ socket }) => socket)).size).toBe(1);
  expect(await ask(service)).toMatchObject({ isReused: true });
});

test('a connection handed from one waiting request to the next is watched like any other', async () => {
  await using service = await startFakeService(answer(200, ''));
  const ask = createAsk({ maxTotalSockets: 1 });
  const { socket } = await ask(service);
  const listeners = () => ['close', 'error'].map((event) => socket.listenerCount(event));
  const before = listeners();
  await Promise.all(Array.from({ length: 20 }, () => ask(service)));
  expect(listeners()).toEqual(before);
});

testRows([(theirs: Socket) => theirs.write('?'), (theirs: Socket) => theirs.end()])(
  'an idle connection over https is closed if data or an end arrives on it',
  async (disturb) => {
    await using server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const ours = connect((server.address() as AddressInfo).port, '127.0.0.1');
    const [theirs]: Socket[] = await once(server, 'connection');
    if (!theirs) throw new Error('no connection');
    // Newer versions of Node check sockets in an agent's list in their own way.
    expect(new SecureAgent({ keepAlive: true }).keepSocketAlive(ours)).toBe(true);
    const closed = once(ours, 'close');
    disturb(theirs.on('error', () => {}));
    await inTime(closed, 'it is closed');
    theirs.destroy();
  },
);

test('`hasIdle` says whether there is an idle connection to an address, also over https', async () => {
  using certificate = trustCertificate();
  const server = createHttpsServer(certificate, (_, response) => response.end());
  await using listening = server.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  const address = { host: '127.0.0.1', port: (server.address() as AddressInfo).port };
  const agent = new SecureAgent({ keepAlive: true });
  expect(hasIdle(agent, address)).toBe(false);
  const asked = requestSecurely({ ...address, agent }).end();
  const [response]: IncomingMessage[] = await once(asked, 'response');
  const { socket } = asked;
  if (!response || !socket) throw new Error('no answer');
  const freed = once(socket, 'free');
  await text(response);
  await freed;
  expect([hasIdle(agent, address), hasIdle(agent, { ...address, port: 1 })]).toEqual([true, false]);
  const closed = once(socket.destroy(), 'close');
  expect(hasIdle(agent, address)).toBe(false);
  await closed;
});

test('a connection that fails after its request was aborted affects nothing else', async () => {
  const agent = new PlainAgent({ keepAlive: true });
  const asked = request('http://127.0.0.1:1', { agent }).end();
  const givenUp = new Promise((resolve) => asked.once('close', resolve));
  asked.on('error', () => {}).destroy();
  await inTime(givenUp, 'the request is given up');
  const [socket] = Object.values(agent.freeSockets).flat();
  if (!socket) throw new Error('it is not kept');
  await new Promise((resolve) => socket.once('close', resolve));
  expect(socket.errored).toMatchObject({ code: 'ECONNREFUSED' });
  expect(agent.freeSockets).toEqual({});
});
