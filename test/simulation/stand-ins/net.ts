import type { Server as HttpServer } from 'node:http';
import { here } from './current.ts';

export * from 'node:net';

export const connect = (options: { host?: string; port?: number }) => here().connect(options);

/** Closing it refuses new connections. */
export class Server {
  close(this: HttpServer): void {
    here().close(this);
  }
}
