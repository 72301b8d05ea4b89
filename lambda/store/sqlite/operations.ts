import type { DatabaseSync } from 'node:sqlite';
import { createCounters } from './counters.ts';
import { createDeviceFlow } from './device-flow.ts';
import { createGlobalCounters } from './global-counters.ts';
import { createKeys } from './keys.ts';
import { createMembers } from './members.ts';
import { createScan } from './scan.ts';
import { createStops } from './stops.ts';

export type Operations = ReturnType<typeof createOperations>;

/** Everything that the store can do, as synchronous functions over one connection. */
export function createOperations(database: DatabaseSync) {
  return {
    keys: createKeys(database),
    members: createMembers(database),
    deviceFlow: createDeviceFlow(database),
    counters: { ...createCounters(database), scan: createScan(database) },
    globalCounters: createGlobalCounters(database),
    stopSwitch: createStops(database),
  };
}

/** The operations that only read, and so need no write lock. */
export const reading: ReadonlySet<string> = new Set([
  ...['keys.findKey', 'keys.findById', 'keys.findLink', 'keys.anyKeyIssued', 'keys.list', 'keys.listStored'],
  ...['members.findSession', 'members.wasSignedOut', 'members.readSlots', 'deviceFlow.find'],
  ...['counters.read', 'counters.scan', 'globalCounters.read', 'stopSwitch.read'],
]);
