import { connect, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:tls';

/** A TLS proxy in front of `url` with this round-trip time in milliseconds. */
export async function startRemote(
  url: string,
  roundTrip: number,
  certificate: { readonly key: string; readonly cert: string },
) {
  const near = new URL(url);
  const sockets = new Set<Socket>();
  const track = (...both: readonly Socket[]) => {
    for (const socket of both) {
      sockets.add(socket.setNoDelay());
      socket
        .on('error', () => {})
        .once('close', () => {
          sockets.delete(socket);
          for (const other of both) other.destroy();
        });
    }
  };
  const tls = createTlsServer(certificate, (socket) => {
    const inner = connect(Number(near.port), near.hostname);
    track(socket, inner);
    socket.pipe(inner).pipe(socket);
  });
  const tlsPort = await listen(tls);
  const far = createServer((socket) => {
    const inner = connect(tlsPort, '127.0.0.1');
    track(socket, inner);
    // Opening a connection takes a round trip too, which the loopback doesn't.
    delayChunks(socket, inner, roundTrip / 2, performance.now() + roundTrip);
    delayChunks(inner, socket, roundTrip / 2);
  });
  return {
    url: `https://127.0.0.1:${await listen(far)}${near.pathname.replace(/\/$/, '')}`,
    /** Closes all connections, as a server with an idle timeout does. */
    closeConnections() {
      for (const socket of sockets) socket.destroy();
    },
    [Symbol.asyncDispose]: async () => {
      for (const server of [far, tls]) server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

async function listen(server: Server | TlsServer): Promise<number> {
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return Object(server.address()).port;
}

/** Delays every chunk by this many milliseconds, in order. */
function delayChunks(from: Socket, to: Socket, delay: number, notBefore = 0): void {
  let last = notBefore;
  from.on('data', (chunk) => {
    last = Math.max(last, performance.now());
    const due = last + delay;
    setTimeout(() => to.write(chunk), due - performance.now());
  });
}
