import type { CallService } from '../../aws/call-service.ts';
import type { Store } from '../store.ts';
import { createCounters } from './counters.ts';
import { createGiveUp } from './give-up.ts';
import { createGlobalCounters } from './global-counters.ts';
import { createKeyReader } from './keys.ts';
import { createReadStop } from './stop.ts';

export interface TableNames {
  readonly keysTable: string;
  readonly quotaTable: string;
}

/** Two DynamoDB tables, accessed with the gateway's own small client. */
export function createDynamoStore(
  callDynamoDb: CallService,
  { keysTable, quotaTable }: TableNames,
  now: () => number,
): Store {
  const { call, giveUp } = createGiveUp(callDynamoDb);
  return {
    keys: createKeyReader(call, keysTable),
    counters: createCounters(call, quotaTable, now),
    globalCounters: createGlobalCounters(call, quotaTable),
    readStop: createReadStop(call, keysTable),
    giveUp,
  };
}
