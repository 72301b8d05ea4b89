import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { CountedPeriod } from '../../../lambda/store/counters.ts';
import type { Item } from '../../../lambda/store/dynamodb/table.ts';
import type { Order, Reply, Waiting } from '../../../lambda/store/sqlite/batches.ts';
import type { Operations } from '../../../lambda/store/sqlite/operations.ts';
import { outputs, type Subject } from '../bundle.ts';
import type { StoreFault } from '../plan.ts';
import type { StoreWorld, WorldStore, Write } from './store.ts';

/** It holds a file that nobody opens: the database is in memory. */
const folder = join(outputs, 'data');

/** The database of a world, which the gateway reaches by its own thread: busy, failing, or without an answer, as the plan says. */
export function createSqlite({ plan, subject, scheduler, trace }: StoreWorld): WorldStore {
  const { database, operations, read } = emptyDatabase(subject);
  const counters = new Map<string, Item>();
  const initial = new Map<string, Item>();
  const writes: Write[] = [];
  const faults: Partial<Record<StoreFault['kind'], number>> = {};
  let calls = 0;

  const note = (key: string, before: Item, token: string | undefined) => {
    const after = read(key);
    counters.set(key, after);
    if (JSON.stringify(after) === JSON.stringify(before)) return;
    writes.push({ time: scheduler.now(), key, before, after, token });
  };
  const doBatch = subject.createBatches(database, watch(operations, read, note), scheduler.now);

  return {
    open: async () => subject.openSqliteStore(folder, { now: scheduler.now, serves: true }),
    putKey: operations.keys.put,
    putUsed(item, day, used) {
      database.prepare('REPLACE INTO requests (period, item, count) VALUES (?, ?, ?)').run(day, item, used);
      for (const map of [counters, initial]) map.set(item, read(item));
    },
    counters,
    initial,
    writes,
    faults,
    startThread(worker) {
      const { running: process } = scheduler;
      const say = (message: unknown) => worker.emit('message', structuredClone(message));
      const waiting: (Waiting & { readonly kind: StoreFault['kind'] | undefined })[] = [];
      const work = () => {
        const batch = waiting.splice(0);
        const { replies } = doBatch(batch.filter(({ kind }) => kind !== 'failing'));
        const failed = batch
          .filter(({ kind }) => kind === 'failing')
          .map(({ id }): Reply => ({ id, fault: diskFault }));
        const lost = new Set(batch.filter(({ kind }) => kind === 'lost after').map(({ id }) => id));
        trace(() => `the store has done ${replies.length} orders`);
        const heard = [...replies, ...failed].filter(({ id }) => !lost.has(id));
        scheduler.at(plan.storeLatency, process, () => say(heard));
      };
      const take = (order: Order) => {
        const number = calls;
        calls += 1;
        const { kind, tries = 0 } = plan.storeFaults.find(({ call }) => call === number) ?? {};
        if (kind) faults[kind] = (faults[kind] ?? 0) + 1;
        trace(() => `store order ${number}: ${order.room}.${order.name} ${kind ?? ''}`);
        if (kind === 'lost before') return;
        const until = scheduler.now() + subject.timeLimit;
        scheduler.at(delayOf(kind, tries) ?? plan.storeLatency, process, () => {
          waiting.push({ ...order, until, kind });
          // Whatever arrives in the same moment shares the transaction.
          if (waiting.length === 1) scheduler.at(0, process, work);
        });
      };
      const names = Object.entries(operations).map(([room, functions]) => [room, Object.keys(functions)]);
      scheduler.at(1, process, () => say({ names: Object.fromEntries(names) }));
      return (message) => {
        if (message === 'end') scheduler.at(1, process, () => worker.emit('exit', 0));
        else take(structuredClone(message) as Order);
      };
    },
  };
}

/** Another process may hold the lock of the database. */
const delayOf = (kind: StoreFault['kind'] | undefined, tries: number) =>
  kind === 'slow' ? 1_500 : kind === 'throttled' ? 900 * tries : undefined;

const diskFault = { kind: 'refused', message: 'disk I/O error', code: 'SQLITE_IOERR' } as const;

const databases = new WeakMap<Subject, ReturnType<typeof openDatabase>>();

/** One for all worlds: opening it and preparing its statements takes longer than a world. */
function emptyDatabase(subject: Subject) {
  const known = databases.get(subject) ?? openDatabase(subject);
  databases.set(subject, known);
  for (const empty of known.empties) empty.run();
  return known;
}

function openDatabase({ migrate, createOperations }: Subject) {
  const database = new DatabaseSync(':memory:');
  migrate(database);
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  const empties = tables.map(({ name }) => database.prepare(`DELETE FROM ${name}`));
  return { database, empties, operations: createOperations(database), read: createReading(database) };
}

/** The operations, of which each write to a counter is noted. */
function watch(
  operations: Operations,
  read: (item: string) => Item,
  note: (key: string, before: Item, token?: string) => void,
): Operations {
  const { counters, globalCounters } = operations;
  function noting<Input extends readonly unknown[], Output>(
    nameOf: (...input: Input) => readonly [item: string, token?: string],
    act: (...input: Input) => Output,
  ) {
    return (...input: Input): Output => {
      const [item, token] = nameOf(...input);
      const before = read(item);
      const output = act(...input);
      note(item, before, token);
      return output;
    };
  }
  return {
    ...operations,
    counters: {
      ...counters,
      charge: noting(({ item }, token) => [item, `charge ${token}`], counters.charge),
      refund: noting(({ item }: CountedPeriod, token) => [item, `refund ${token}`], counters.refund),
      settle: noting(({ item }: CountedPeriod, { name }) => [item, `settle ${name}`], counters.settle),
    },
    globalCounters: {
      ...globalCounters,
      add: noting(({ period }) => [`deployment#${period}`], globalCounters.add),
    },
  };
}

/** Reads a counter as an item. */
function createReading(database: DatabaseSync) {
  const selects = [
    "SELECT 'u' || IIF(period < 0, 'lifetime', period) AS name, count AS number FROM requests WHERE item = ?",
    "SELECT 'n' || minute AS name, count AS number FROM bursts WHERE item = ?",
    "SELECT 'b' || period AS name, taken AS number FROM budgets WHERE item = ?",
    "SELECT 'h' || name AS name, amount AS number FROM reservations WHERE item = ?",
    "SELECT 'requests' AS name, requests AS number FROM globalCounters WHERE 'deployment#' || period = ?",
    "SELECT 'guests' AS name, guests AS number FROM globalCounters WHERE 'deployment#' || period = ?",
    "SELECT 'spent' AS name, spent AS number FROM globalCounters WHERE 'deployment#' || period = ?",
  ].map((sql) => database.prepare(sql));
  return (item: string): Item =>
    Object.fromEntries(
      selects.flatMap((select) => select.all(item)).map(({ name, number }) => [name, { N: String(number) }]),
    );
}
