interface Attribute {
  readonly name: string;
  readonly type: 'S' | 'N';
}

interface Index {
  readonly name: string;
  readonly partitionKey: Attribute;
  readonly sortKey?: Attribute;
}

export interface TableSchema {
  readonly partitionKey: Attribute;
  /** Epoch seconds after which DynamoDB deletes the item, at worst days later. */
  readonly ttlAttribute: string;
  readonly indexes: readonly Index[];
}

/** Issued keys (`key#<hash>`), linked networks (`link#<networkId>`), the markers `issued` and `stopped`, and other `kind#…` items. */
export const keysSchema = {
  partitionKey: { name: 'pk', type: 'S' },
  ttlAttribute: 'ttl',
  indexes: [
    { name: 'by-id', partitionKey: { name: 'id', type: 'S' } },
    // Only keys have `createdAt`, so links, which have a member too, stay out of the indexes.
    {
      name: 'by-member',
      partitionKey: { name: 'member', type: 'S' },
      sortKey: { name: 'createdAt', type: 'N' },
    },
  ],
} as const satisfies TableSchema;

/** One item per caller, and one per day of the deployment: counters.ts and global-counters.ts. */
export const quotaSchema = {
  partitionKey: { name: 'pk', type: 'S' },
  ttlAttribute: 'ttl',
  indexes: [],
} as const satisfies TableSchema;

/**
 * The highest BURST_LIMIT that a single item can serve, for callers without a budget: a partition takes a thousand write units a
 * second, and idempotency tokens make the item grow.
 */
export const mostBurst = 148;

/** The input of CreateTable for a schema. */
export function toCreateTableInput(schema: TableSchema, tableName: string) {
  const keyOf = (partitionKey: Attribute, sortKey?: Attribute) => [
    { AttributeName: partitionKey.name, KeyType: 'HASH' as const },
    ...(sortKey ? [{ AttributeName: sortKey.name, KeyType: 'RANGE' as const }] : []),
  ];
  const attributes = [schema, ...schema.indexes].flatMap(({ partitionKey, ...rest }) =>
    'sortKey' in rest && rest.sortKey ? [partitionKey, rest.sortKey] : [partitionKey],
  );
  const indexes = schema.indexes.map(({ name, partitionKey, sortKey }) => ({
    IndexName: name,
    KeySchema: keyOf(partitionKey, sortKey),
    Projection: { ProjectionType: 'ALL' as const },
  }));
  return {
    TableName: tableName,
    BillingMode: 'PAY_PER_REQUEST' as const,
    AttributeDefinitions: attributes.map(({ name, type }) => ({ AttributeName: name, AttributeType: type })),
    KeySchema: keyOf(schema.partitionKey),
    // DynamoDB refuses an empty list.
    ...(indexes.length > 0 && { GlobalSecondaryIndexes: indexes }),
  };
}
