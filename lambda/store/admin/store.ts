import type { AwsAccess } from '../../aws/access.ts';
import type { TableNames } from '../dynamodb/store.ts';
import type { AdminStore } from '../store.ts';
import { createAdminCounters } from './counters.ts';
import { createDeviceFlowStore } from './device-flow.ts';
import { createDocuments, type Documents } from './documents.ts';
import { createKeyStore } from './keys.ts';
import { createMemberStore } from './members.ts';
import { createStopSwitch } from './stop-switch.ts';

/** The same tables, accessed with the AWS SDK's document client. */
export const createAdminStore = (access: AwsAccess, tables: TableNames): AdminStore =>
  openAdminStore(createDocuments(access), tables);

export function openAdminStore(documents: Documents, { keysTable, quotaTable }: TableNames): AdminStore {
  return {
    keys: createKeyStore(documents, keysTable),
    members: createMemberStore(documents, keysTable),
    deviceFlow: createDeviceFlowStore(documents, keysTable),
    counters: createAdminCounters(documents, quotaTable),
    stopSwitch: createStopSwitch(documents, keysTable),
  };
}
