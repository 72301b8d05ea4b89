/** The real code that every schedule runs, from the charge down to the retries of a call, or to the statements of SQLite. */

export { createRepeat, ServiceError } from '../../lambda/aws/repeat.ts';
export { costOf } from '../../lambda/budget/prices.ts';
export { GatewayError } from '../../lambda/errors.ts';
export { createQuota } from '../../lambda/quota/quota.ts';
export { QuotaRefusal } from '../../lambda/quota/refusal.ts';
export { createCounters } from '../../lambda/store/dynamodb/counters.ts';
export { outage } from '../../lambda/store/errors.ts';
export { createCounters as createSqliteCounters } from '../../lambda/store/sqlite/counters.ts';
export { migrate } from '../../lambda/store/sqlite/schema.ts';
