import type { KeyRecord } from '../../../lambda/identity/issued-keys.ts';
import type { Item } from '../../../lambda/store/dynamodb/table.ts';
import type { Store } from '../../../lambda/store/store.ts';
import type { Subject } from '../bundle.ts';
import type { Plan, StoreFault } from '../plan.ts';
import type { Process, Scheduler } from '../scheduler.ts';
import { createSqlite } from './sqlite.ts';
import { createTables } from './tables.ts';

/** One write to a counter that was applied. */
export interface Write {
  readonly time: number;
  readonly key: string;
  readonly before: Item;
  readonly after: Item;
  /** What must be unlike in any two writes to a counter: the token of a charge or refund, or the reservation that is settled. */
  readonly token: string | undefined;
}

/** What a store tells of itself. Counters are items, in whichever store: requests are counted in `u…`, bursts in `n…`, budgets in `b…`, reservations are `h…`. */
export interface WorldStore {
  /** As a process has it. */
  open(process: Process, random: () => number): Promise<{ readonly store: Store; readonly close: () => Promise<void> }>;
  /** Issues a key before the world begins. */
  putKey(hash: string, record: KeyRecord): void;
  /** Counts requests of a day before the world begins. */
  putUsed(item: string, day: number, used: number): void;
  readonly counters: ReadonlyMap<string, Item>;
  /** As they were before. */
  readonly initial: ReadonlyMap<string, Item>;
  readonly writes: readonly Write[];
  readonly faults: Readonly<Partial<Record<StoreFault['kind'], number>>>;
  /** The thread that has the database. */
  startThread(worker: NodeJS.EventEmitter): (message: unknown) => void;
}

export interface StoreWorld {
  readonly plan: Plan;
  readonly subject: Subject;
  readonly scheduler: Scheduler;
  readonly trace: (line: () => string) => void;
}

/** A function has tables; a server may have a folder. */
export const createStore = (world: StoreWorld): WorldStore =>
  world.plan.store === 'sqlite' && world.plan.engine === 'web' ? createSqlite(world) : createTables(world);
