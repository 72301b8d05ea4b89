import { type Guarantee, is, types } from './guarantee.ts';

const { data, table, secret, stack } = types;

/** No mistake loses keys, counters or secrets for good. */
export const durable: readonly Guarantee[] = [
  { of: data, at: 'DeletionPolicy', must: is('Retain'), otherwise: 'is deleted together with the stack' },
  { of: data, at: 'UpdateReplacePolicy', must: is('Retain'), otherwise: 'is deleted when another takes its place' },
  {
    of: table,
    at: 'Replicas[].DeletionProtectionEnabled',
    must: is(true),
    otherwise: 'can be deleted by a single command',
  },
  {
    of: table,
    at: 'Replicas[].PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled',
    must: is(true),
    otherwise: "can't be restored to an earlier second",
  },
  {
    of: table,
    at: 'Replicas[].PointInTimeRecoverySpecification.RecoveryPeriodInDays',
    must: (days) => days === undefined || days === 35,
    otherwise: "can't be restored to any second of the last 35 days",
  },
  { of: table, at: 'TimeToLiveSpecification', otherwise: 'deletes other items by itself' },
  { of: secret, at: 'SecretString', otherwise: 'is overwritten, and its current value is lost' },
  { of: secret, at: 'GenerateSecretString', otherwise: 'is overwritten, and its current value is lost' },
  {
    of: stack,
    at: 'terminationProtection',
    keeps: (before, after) => before !== true || after === true,
    otherwise: 'can be deleted by a single command',
  },
  { of: stack, at: 'name', otherwise: 'is another stack: everything is created again beside the old one' },
];
