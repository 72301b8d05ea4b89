import { isIP, connect as openTcp, type Socket } from 'node:net';
import { connect as openTls } from 'node:tls';

/** How long a connection may be silent before the system checks that it still exists, in milliseconds. */
const silence = 1_000;

/** Opens sockets to an address, by TLS for https. */
export function createOpenSocket({ protocol, hostname, port }: URL): () => Socket {
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const to = { host, port: Number(port) || (protocol === 'https:' ? 443 : 80) };
  const alive = { noDelay: true, keepAlive: true, keepAliveInitialDelay: silence };
  if (protocol !== 'https:') return () => openTcp({ ...to, ...alive });

  const secure = { ...to, ALPNProtocols: ['http/1.1'], ...(isIP(host) === 0 && { servername: host }) };
  let session: Buffer | undefined; // of the latest handshake: it makes the next one shorter
  return () => {
    const socket = openTls({ ...secure, ...(session && { session }) });
    socket.on('session', (latest) => {
      session = latest;
    });
    // Perhaps it was the session that the other side did not take.
    socket.once('error', () => {
      session = undefined;
    });
    return socket.setNoDelay(true).setKeepAlive(true, silence);
  };
}
