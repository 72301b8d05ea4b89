import { AttributeType, Billing, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { RemovalPolicy } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { keysSchema, quotaSchema, type TableSchema } from '../lambda/store/dynamodb/schema.ts';

/** The gateway's two tables. Their schema is shared with its stores and the local emulator. */
export class Tables extends Construct {
  readonly keys: TableV2;
  readonly quota: TableV2;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.keys = createTable(this, 'Keys', keysSchema);
    this.quota = createTable(this, 'Quota', quotaSchema);
  }
}

/**
 * Both tables outlive the stack and have point-in-time recovery. Keys are stored nowhere else, and guest counters count for a
 * lifetime: without one, its network gets free requests again.
 */
function createTable(scope: Construct, id: string, schema: TableSchema): TableV2 {
  return new TableV2(scope, id, {
    partitionKey: attribute(schema.partitionKey),
    globalSecondaryIndexes: schema.indexes.map(({ name, partitionKey, sortKey }) => ({
      indexName: name,
      partitionKey: attribute(partitionKey),
      ...(sortKey && { sortKey: attribute(sortKey) }),
    })),
    timeToLiveAttribute: schema.ttlAttribute,
    billing: Billing.onDemand(),
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
    deletionProtection: true,
    removalPolicy: RemovalPolicy.RETAIN,
  });
}

function attribute({ name, type }: TableSchema['partitionKey']) {
  return { name, type: type === 'S' ? AttributeType.STRING : AttributeType.NUMBER };
}
