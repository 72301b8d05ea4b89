/** The real code that every schedule runs, from the charge down to the retries of a call. */

export { createRepeat, ServiceError } from '../../lambda/aws/repeat.ts';
export { costOf } from '../../lambda/budget/prices.ts';
export { GatewayError } from '../../lambda/errors.ts';
export { createQuota } from '../../lambda/quota/quota.ts';
export { QuotaRefusal } from '../../lambda/quota/refusal.ts';
export { createCounters } from '../../lambda/store/dynamodb/counters.ts';
