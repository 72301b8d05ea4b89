import { minuteOf } from '../../budget/time.ts';
import type { ScannedCounters } from '../counters.ts';
import type { AdminStore, Store } from '../store.ts';
import { prepareFolder } from './folder.ts';
import { type InThread, startThread } from './thread.ts';

/** Counters per page. */
const pageSize = 2_000;

interface Opening {
  readonly now: () => number;
  /** Whether this is a gateway, which checks the file for corruption and deletes expired rows, or a command. */
  readonly serves: boolean;
  /** Whether to create the folder and the file where missing, as a gateway does. */
  readonly creates?: boolean;
}

/** Opens the SQLite store in a folder, which several processes may use at once. Throws a FolderError if the folder can't be used. */
export async function openSqliteStore(folder: string, { now, serves, creates = serves }: Opening) {
  const { path, wasOpen } = prepareFolder(folder, creates);
  const { inThread, giveUp, close } = await startThread({ path, serves });
  const { keys, members, deviceFlow, globalCounters, stopSwitch } = inThread;
  const { refund, scan, ...counters } = inThread.counters;
  const store: Store = {
    keys,
    counters: { ...counters, refund: (counted, token) => refund(counted, token, minuteOf(now())) },
    globalCounters,
    readStop: stopSwitch.read,
    giveUp,
  };
  const adminStore: AdminStore = {
    keys,
    members,
    deviceFlow,
    stopSwitch,
    counters: { ...counters, scan: (time, onPause) => scanAll(scan, time, onPause) },
  };
  return { store, adminStore, wasOpen, close };
}

async function* scanAll(
  scan: InThread['counters']['scan'],
  now: number,
  onPause: () => Promise<void>,
): AsyncGenerator<ScannedCounters> {
  for (let last = ''; ; ) {
    const counters = await scan(now, last, pageSize);
    yield { scanned: counters.length, counters };
    if (counters.length < pageSize) return;
    last = counters.at(-1)?.item ?? '';
    await onPause();
  }
}
