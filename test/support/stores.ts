import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dayOf, minuteOf } from '../../lambda/budget/time.ts';
import { openAdminStore } from '../../lambda/store/admin/store.ts';
import type { ChargeResult, CounterWindow } from '../../lambda/store/counters.ts';
import { createDynamoStore } from '../../lambda/store/dynamodb/store.ts';
import { openSqliteStore } from '../../lambda/store/sqlite/store.ts';
import type { AdminStore, Store } from '../../lambda/store/store.ts';
import { startTestDynamoDb } from './dynamodb.ts';

export interface TestStore extends AsyncDisposable {
  readonly store: Store;
  readonly adminStore: AdminStore;
}

/** Each implementation, empty and real. */
export const stores = {
  async DynamoDB(now: () => number): Promise<TestStore> {
    const database = await startTestDynamoDb();
    return {
      store: createDynamoStore(database.callDynamoDb, database, now),
      adminStore: openAdminStore(database.documents, database),
      [Symbol.asyncDispose]: database.close,
    };
  },
  async SQLite(now: () => number): Promise<TestStore> {
    const folder = await mkdtempDisposable(join(tmpdir(), 'gateway-store-'));
    const { store, adminStore, close } = await openSqliteStore(folder.path, { now, serves: true });
    return {
      store,
      adminStore,
      async [Symbol.asyncDispose]() {
        await close();
        await folder.remove();
      },
    };
  },
} as const;

let names = 0;
/** A name that nothing else in a store has. */
export const newName = (): string => `name${names++}`;

/** A counter that no other test uses. */
export const newWindow = (now: number, more: Partial<CounterWindow> = {}): CounterWindow => ({
  ...{ item: `member#${newName()}`, ...dayOf(now), limit: 50, burst: 20, minute: minuteOf(now) },
  ...more,
});

export const grantedIn = (results: readonly ChargeResult[]): number => results.filter(({ granted }) => granted).length;
