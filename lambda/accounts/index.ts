import { readAwsAccess } from '../aws/access.ts';
import { createAws } from '../aws/call-service.ts';
import { createHandler } from '../engines/function-url.ts';
import { readAccountsConfig } from '../settings/config.ts';
import { readBoth } from '../settings/read-settings.ts';
import { readTables } from '../settings/store-place.ts';
import { createAdminStore } from '../store/admin/store.ts';
import { createDynamoStore } from '../store/dynamodb/store.ts';
import { createAccounts } from './accounts.ts';
import { readPageFiles } from './pages.ts';

const access = readAwsAccess(process.env);
const [config, tables] = readBoth(
  () => readAccountsConfig(process.env),
  () => readTables(process.env),
);
const { callDynamoDb, readSecret } = createAws(access, { now: Date.now, random: Math.random });
const accounts = createAccounts(config, {
  store: createDynamoStore(callDynamoDb, tables, Date.now),
  adminStore: createAdminStore(access, tables),
  readSecret,
  // The bundle has the page files at the same path.
  pageFiles: readPageFiles(new URL('./pages/', import.meta.url)),
  writeLog: (line) => process.stdout.write(line),
  now: Date.now,
  // Function URLs are always https.
  scheme: 'https',
});

/** Called by Lambda. Everything above runs once per environment. */
export const handler = createHandler(accounts);
