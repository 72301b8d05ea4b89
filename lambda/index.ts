import { readAwsAccess } from './aws/access.ts';
import { createAws } from './aws/call-service.ts';
import { createHandler } from './engines/function-url.ts';
import { createGateway } from './gateway.ts';
import { createLog } from './report/log.ts';
import { readConfig } from './settings/config.ts';
import { readBoth } from './settings/read-settings.ts';
import { readTables } from './settings/store-place.ts';
import { createDynamoStore } from './store/dynamodb/store.ts';

// A copy, because each read of `process.env` is a system call, and the settings make two hundred.
const environment = { ...process.env };

const [config, tables] = readBoth(
  () => readConfig(environment),
  () => readTables(environment),
);
const { callDynamoDb, ...aws } = createAws(readAwsAccess(environment), { now: Date.now, random: Math.random });

const gateway = createGateway(config, {
  store: createDynamoStore(callDynamoDb, tables, Date.now),
  ...aws,
  log: createLog({
    write: (line) => process.stdout.write(line),
    now: Date.now,
    metricsNamespace: config.log.metricsNamespace,
  }),
  now: Date.now,
});

/** Called by Lambda. Everything above runs once per environment. */
export const handler = createHandler(gateway);
