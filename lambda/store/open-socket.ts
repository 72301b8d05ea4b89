import { isIP, connect as openTcp, type Socket } from 'node:net';
import { connect as openTls } from 'node:tls';
import { urlToHttpOptions } from 'node:url';

/** How long a connection may be silent before the system checks that it still exists, in milliseconds. */
const silence = 1_000;

/** Opens sockets to an address, by TLS for https. */
export function createOpenSocket(address: URL): () => Socket {
  const isSecure = address.protocol === 'https:';
  const { hostname, port } = urlToHttpOptions(address);
  const to = { host: hostname ?? '', port: Number(port ?? (isSecure ? 443 : 80)) };
  const open = isSecure ? createOpenTls(to) : () => openTcp(to);
  return () => open().setNoDelay(true).setKeepAlive(true, silence);
}

function createOpenTls(to: { readonly host: string; readonly port: number }): () => Socket {
  const options = { ...to, ALPNProtocols: ['http/1.1'], ...(isIP(to.host) === 0 && { servername: to.host }) };
  let session: Buffer | undefined; // of the latest handshake: it makes the next one shorter
  return () => {
    const socket = openTls({ ...options, ...(session && { session }) });
    socket.on('session', (latest) => {
      session = latest;
    });
    // Perhaps it was the session that the other side did not take.
    socket.once('error', () => {
      session = undefined;
    });
    return socket;
  };
}
