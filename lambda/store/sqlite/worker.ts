import type { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { timeLimit } from '../../settings/refresh.ts';
import { createBatches, type Order, type Waiting } from './batches.ts';
import { codeOf, openDatabase } from './database.ts';
import { FolderError } from './folder.ts';
import { createOperations, type Operations } from './operations.ts';
import { createSweep } from './sweep.ts';

/*
 * The worker thread that owns the connection, because SQLite is synchronous and a commit waits for the disk. Whatever arrives during a
 * commit shares the next one.
 */

export interface ThreadData {
  readonly path: string;
  /** Whether this is a gateway, which checks for corruption and deletes expired rows, or a command. */
  readonly serves: boolean;
}

const sweepEvery = 60_000;
const rowsAtOnce = 500;

function serve({ path, serves }: ThreadData): void {
  const database = openDatabase(path, serves);
  const operations = createOperations(database);
  const doBatch = createBatches(database, operations, () => performance.now());
  let waiting: Waiting[] = [];
  let scheduled = false;
  let ending = false;

  const schedule = () => {
    if (scheduled) return;
    scheduled = true;
    // Everything that arrives before then joins the batch.
    setImmediate(work);
  };
  const work = () => {
    scheduled = false;
    const { replies, left } = doBatch(waiting);
    waiting = left;
    if (replies.length > 0) parentPort?.postMessage(replies);
    if (waiting.length > 0) schedule();
    else if (ending) end();
  };
  const end = () => {
    database.close();
    parentPort?.close();
  };

  parentPort?.on('message', (order: Order | 'end') => {
    if (order === 'end') ending = true;
    else waiting.push({ ...order, until: performance.now() + timeLimit });
    schedule();
  });
  if (serves) sweepEveryMinute(database, () => ending);
  parentPort?.postMessage({ names: namesOf(operations) });
}

/** The names of all operations, so that the main thread can offer them as functions. */
function namesOf(operations: Operations) {
  return Object.fromEntries(Object.entries(operations).map(([room, functions]) => [room, Object.keys(functions)]));
}

/** Deletes expired rows every minute, interleaved with orders. Skips a round if another process holds the lock. */
function sweepEveryMinute(database: DatabaseSync, hasEnded: () => boolean): void {
  const sweep = createSweep(database);
  const sweepOn = () => {
    if (hasEnded()) return;
    try {
      if (!sweep(Date.now(), rowsAtOnce)) setImmediate(sweepOn);
    } catch (error) {
      if (codeOf(error) === undefined) throw error;
    }
  };
  setInterval(sweepOn, sweepEvery).unref();
}

try {
  serve(workerData as ThreadData);
} catch (error) {
  if (!(error instanceof Error)) throw error;
  const isExpected = error instanceof FolderError || 'errcode' in error;
  parentPort?.postMessage({ refused: isExpected ? error.message : error.stack });
  parentPort?.close();
}
