import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { createPost } from '../../../lambda/store/post.ts';
import { makeCertificate } from '../../support/certificate.ts';
import { waitUntil } from '../../support/wait-until.ts';

/** A server of raw bytes, which answers whatever a connection sends; each knows its number. */
async function startRawServer(answer: (socket: Socket, number: number) => unknown) {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    const number = sockets.push(socket);
    socket.on('error', () => {});
    socket.on('data', () => answer(socket, number));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = new URL(`http://127.0.0.1:${portOf(server)}`);
  const post = createPost(url);
  return {
    ...{ url, sockets },
    call: () => post({}, '{}', undefined),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const portOf = (server: Server) => (server.address() as AddressInfo).port;
const fine = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}';
const answerFine = (socket: Socket) => socket.write(fine);

describe('a kept connection', () => {
  test('serves one call after the other; calls at once have connections of their own', async () => {
    await using server = await startRawServer(answerFine);
    for (let call = 0; call < 3; call += 1) await server.call();
    expect(server.sockets).toHaveLength(1);
    await Promise.all([server.call(), server.call()]);
    expect(server.sockets).toHaveLength(2);
  });

  test('that was closed while idle is not used again', async () => {
    await using server = await startRawServer(answerFine);
    await server.call();
    server.sockets[0]?.end();
    await waitUntil(() => server.sockets[0]?.destroyed, 'the client has closed its side');
    await server.call();
    expect(server.sockets).toHaveLength(2);
  });

  test.each([
    ['before any answer, is to blame', '', true],
    ['in the middle of an answer, is not', 'HTTP/1.1 2', false],
  ])('that dies under its second call, %s', async (_name, lastWords, onKeptConnection) => {
    await using server = await startRawServer((socket) =>
      socket.bytesWritten === 0 ? socket.write(fine) : socket.end(lastWords),
    );
    await server.call();
    await expect(server.call()).rejects.toMatchObject({ name: 'NoAnswer', onKeptConnection });
  });

  test('on which something came that nobody asked for is not used again', async () => {
    await using server = await startRawServer(answerFine);
    await server.call();
    server.sockets[0]?.write('HTTP/1.1 200 OK\r\ncontent-length: 14\r\n\r\n{"yours":false}');
    await waitUntil(() => server.sockets[0]?.destroyed, 'the client has hung up');
    expect((await server.call()).text).toBe('{}');
    expect(server.sockets).toHaveLength(2);
  });

  test('whose request is not sent to its end is not used again', async () => {
    await using server = await startRawServer((socket) => {
      socket.pause();
      socket.write('HTTP/1.1 400 Bad Request\r\ncontent-length: 2\r\n\r\n{}');
    });
    const post = createPost(server.url);
    for (const call of [1, 2]) {
      expect(await post({}, 'a'.repeat(20_000_000), undefined)).toMatchObject({ status: 400, text: '{}' });
      expect(server.sockets).toHaveLength(call);
    }
  });

  test('does not keep the process alive', async () => {
    await using server = await startRawServer(answerFine);
    const script = `import { createPost } from '${join(import.meta.dirname, '../../../lambda/store/post.ts')}';
      console.log((await createPost(new URL('${server.url}'))({}, '{}', undefined)).text);`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script]);
    expect(stdout).toBe('{}\n');
  });
});

test('a new connection that dies is not to blame for being kept', async () => {
  await using server = await startRawServer((socket) => socket.destroy());
  await expect(server.call()).rejects.toMatchObject({ name: 'NoAnswer', onKeptConnection: false });
});

test('an answer that comes byte by byte is read whole', async () => {
  await using server = await startRawServer(async (socket) => {
    socket.setNoDelay(true);
    for (const byte of fine) await new Promise((sent) => socket.write(byte, sent));
  });
  expect(await server.call()).toMatchObject({ status: 200, text: '{}' });
});

test('an answer that its connection ends is read whole', async () => {
  await using server = await startRawServer((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n{}'));
  expect(await server.call()).toMatchObject({ status: 200, text: '{}' });
});

test('a connection that its answer ends is closed, even if the other side leaves it open', async () => {
  await using server = await startRawServer((socket) =>
    socket.write(fine.replace('200 OK', '200 OK\r\nconnection: close')),
  );
  await server.call();
  await waitUntil(() => server.sockets[0]?.destroyed, 'the client has hung up');
});

test('nonsense ends the call and the connection', async () => {
  await using server = await startRawServer((socket) => socket.write('SSH-2.0-OpenSSH_9.6\r\n\r\n'));
  await expect(server.call()).rejects.toMatchObject({ name: 'NoAnswer', message: 'the answer is no HTTP answer' });
  await waitUntil(() => server.sockets[0]?.destroyed, 'the client has hung up');
});

test('a call that is given up ends its connection', async () => {
  await using server = await startRawServer(() => {});
  const controller = new AbortController();
  const call = createPost(server.url)({}, '{}', controller.signal);
  await waitUntil(() => server.sockets[0]?.bytesRead, 'the call has arrived');
  controller.abort(new Error('too slow'));
  await expect(call).rejects.toMatchObject({ name: 'NoAnswer', message: 'too slow' });
  await waitUntil(() => server.sockets[0]?.destroyed, 'the client has hung up');
});

test('a header that could smuggle in another is not sent', async () => {
  await using server = await startRawServer(answerFine);
  const call = createPost(server.url)({ 'x-amz-security-token': 'a\r\nx-more: b' }, '{}', undefined);
  await expect(call).rejects.toThrow("The header x-amz-security-token holds characters that a header can't carry");
  expect(server.sockets).toHaveLength(0);
});

test('a TLS session that is not taken is not offered again', async () => {
  const certificate = makeCertificate();
  const trusted = getCACertificates('default');
  const resumed: boolean[] = [];
  const secure = createHttpsServer(certificate, (_, response) => response.setHeader('connection', 'close').end('{}'));
  secure.on('secureConnection', (socket) => resumed.push(socket.isSessionReused()));
  const fatalAlert = Buffer.from('15030300020228', 'hex');
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    if (connections === 2) socket.once('data', () => socket.end(fatalAlert));
    else secure.emit('connection', socket);
  });
  try {
    setDefaultCACertificates([certificate.cert]);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const post = createPost(new URL(`https://127.0.0.1:${portOf(server)}`));
    await post({}, '{}', undefined);
    await expect(post({}, '{}', undefined)).rejects.toMatchObject({ name: 'NoAnswer' });
    await post({}, '{}', undefined);
    expect({ connections, resumed }).toEqual({ connections: 3, resumed: [false, false] });
  } finally {
    setDefaultCACertificates(trusted);
    server.close();
  }
});

test('https is spoken to those whose certificate is trusted, with one handshake for all later ones', async () => {
  const certificate = makeCertificate();
  const trusted = getCACertificates('default');
  const handshakes: unknown[] = [];
  const server = createHttpsServer(certificate, (_, response) => response.setHeader('connection', 'close').end('{}'));
  server.on('secureConnection', (socket) => {
    handshakes.push({ resumed: socket.isSessionReused(), protocol: socket.alpnProtocol });
  });
  try {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const post = createPost(new URL(`https://127.0.0.1:${portOf(server)}`));
    await expect(post({}, '{}', undefined)).rejects.toMatchObject({ cause: { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' } });
    setDefaultCACertificates([certificate.cert]);
    for (let call = 0; call < 2; call += 1) expect(await post({}, '{}', undefined)).toMatchObject({ text: '{}' });
    expect(handshakes.slice(-2)).toEqual([
      { resumed: false, protocol: 'http/1.1' },
      { resumed: true, protocol: 'http/1.1' },
    ]);
  } finally {
    setDefaultCACertificates(trusted);
    server.closeAllConnections();
    server.close();
  }
});
