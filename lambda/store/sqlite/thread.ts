import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { outage, tooLarge } from '../errors.ts';
import type { Fault, Order, Reply } from './batches.ts';
import { FolderError } from './folder.ts';
import type { Operations } from './operations.ts';
import type { ThreadData } from './worker.ts';

type Asked<Room> = {
  readonly [Name in keyof Room]: Room[Name] extends (...input: infer Input) => infer Output
    ? (...input: Input) => Promise<Output>
    : never;
};

/** The operations, carried out in the worker thread. Each rejects with `service_unavailable` if the store fails. */
export type InThread = { readonly [Room in keyof Operations]: Asked<Operations[Room]> };

/** Next to this file, bundled or not. */
const entry = new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : './sqlite.js', import.meta.url);

/** Milliseconds until an unanswered operation fails. Waits for a lock end sooner, in the worker; a busy disk may take seconds to sync. */
const operationTimeout = 10_000;

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly timer: NodeJS.Timeout;
}

/** Starts the worker thread that owns the connection. Resolves once the database is open. */
export async function startThread(data: ThreadData) {
  const worker = new Worker(entry, { workerData: data });
  const [opened] = await once(worker, 'message');
  if ('refused' in opened) throw new FolderError(opened.refused);
  const { names } = opened as { readonly names: Readonly<Record<string, readonly string[]>> };
  const { ask, giveUp } = createAsking(worker);
  const closing = Promise.withResolvers<void>();
  let isClosing = false;
  worker.once('exit', () => {
    closing.resolve();
    if (isClosing) return;
    giveUp();
    // Without its store the process is of no use. Its supervisor restarts it.
    throw new StoreError('the thread of the store has ended');
  });
  const rooms = Object.entries(names).map(([room, all]) => [
    room,
    Object.fromEntries(all.map((name) => [name, (...input: unknown[]) => ask(room, name, input)])),
  ]);
  return {
    inThread: Object.fromEntries(rooms) as InThread,
    giveUp,
    /** Closes the database once all pending operations are done. */
    async close(): Promise<void> {
      isClosing = true;
      worker.postMessage('end');
      await closing.promise;
    },
  };
}

function createAsking(worker: Worker) {
  const waiting = new Map<number, Waiting>();
  let orders = 0;
  let hasEnded = false;

  const settle = (id: number, act: (one: Waiting) => void): void => {
    const one = waiting.get(id);
    if (one === undefined) return;
    waiting.delete(id);
    clearTimeout(one.timer);
    act(one);
  };
  const giveUpOn = (id: number, why: string, code?: string): void =>
    settle(id, ({ reject }) => reject(outage(new StoreError(why, code), true)));
  worker.on('message', (replies: readonly Reply[]) => {
    for (const reply of replies) {
      settle(reply.id, ({ resolve, reject }) =>
        'fault' in reply ? reject(toError(reply.fault)) : resolve(reply.value),
      );
    }
  });

  return {
    ask: (room: string, name: string, input: readonly unknown[]): Promise<unknown> =>
      new Promise((resolve, reject) => {
        if (hasEnded) return reject(outage(new StoreError(ending), false));
        orders += 1;
        const id = orders;
        const timer = setTimeout(() => giveUpOn(id, 'the disk takes too long', 'ETIMEDOUT'), operationTimeout);
        waiting.set(id, { resolve, reject, timer });
        worker.postMessage({ id, room, name, input } satisfies Order);
      }),
    /** Fails all pending and all later operations. */
    giveUp(): void {
      hasEnded = true;
      for (const id of waiting.keys()) giveUpOn(id, ending);
    },
  };
}

const ending = 'the process ends';

/** The cause of an outage, for the log. */
class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly code: string | undefined;
  constructor(message: string, code?: string) {
    super(message);
    this.code = code;
  }
}

function toError({ kind, message, code }: Fault): unknown {
  if (kind === 'too large') return tooLarge();
  if (kind === 'defect') return new StoreError(message);
  return outage(new StoreError(message, code), kind === 'in doubt');
}
