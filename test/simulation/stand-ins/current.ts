import type { Server } from 'node:http';
import type { Duplex } from 'node:stream';

/** A timer of the world. */
export interface WorldTimer {
  isRef: boolean;
  /** Begins its time anew. */
  refresh(): void;
  clear(): void;
}

/** What the gateway's code finds where it expects Node: all that may vary, so that one seed decides it. */
export interface Surroundings {
  /** In milliseconds. */
  now(): number;
  setTimer(act: () => void, delay: number, repeats: boolean): WorldTimer;
  /** In a turn of the event loop of its own. */
  setImmediate(act: () => void): void;
  randomBytes(size: number): Buffer;
  connect(address: { readonly host?: string | null | undefined }): Duplex;
  listen(server: Server): void;
  close(server: Server): void;
  /** What becomes of a thread that has long work. */
  fateOfThread(): 'works' | 'dies' | 'hangs';
  /** Starts the thread of a database. Returns what it is told by. */
  startStoreThread(worker: NodeJS.EventEmitter): (message: unknown) => void;
  /** Follows what a request holds of the memory for bodies, in bytes. */
  openMemory(): { held: number };
}

let current: Surroundings | undefined;

/** From here on, code of the bundle runs in this world. */
export function enter(surroundings: Surroundings): void {
  current = surroundings;
}

export function here(): Surroundings {
  if (!current) throw new Error('no world has begun');
  return current;
}
