declare module 'dynalite' {
  import type { Server } from 'node:http';

  interface DynaliteOptions {
    /** Where the tables lie; without it they are in memory. */
    readonly path?: string | undefined;
    readonly createTableMs?: number;
  }

  /** A server that speaks DynamoDB's protocol; closing it closes the tables. */
  export default function dynalite(options?: DynaliteOptions): Server;
}
