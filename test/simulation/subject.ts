/** The real gateway, as each world runs it. What it takes from Node that may vary is replaced where this is bundled. */

export { createRepeat, ServiceError } from '../../lambda/aws/repeat.ts';
export { createHandler } from '../../lambda/engines/function-url.ts';
export { createGateway } from '../../lambda/gateway.ts';
export { createLog } from '../../lambda/report/log.ts';
export { startServer } from '../../lambda/serve.ts';
export { readConfig, readServerConfig } from '../../lambda/settings/config.ts';
export { timeLimit } from '../../lambda/settings/refresh.ts';
export { createDynamoStore } from '../../lambda/store/dynamodb/store.ts';
export { createBatches } from '../../lambda/store/sqlite/batches.ts';
export { createOperations } from '../../lambda/store/sqlite/operations.ts';
export { migrate } from '../../lambda/store/sqlite/schema.ts';
export { openSqliteStore } from '../../lambda/store/sqlite/store.ts';
export { enter } from './stand-ins/current.ts';
