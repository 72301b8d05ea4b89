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
  /** Holds epoch seconds after which DynamoDB deletes the item, days later at worst. */
  readonly ttlAttribute: string;
  readonly indexes: readonly Index[];
}

/** Issued keys (`key#<hash>`), linked networks (`link#<networkId>`) and the marker `issued`; other `kind#…` items may follow. */
export const keysSchema = {
  partitionKey: { name: 'pk', type: 'S' },
  ttlAttribute: 'ttl',
  indexes: [
    { name: 'by-id', partitionKey: { name: 'id', type: 'S' } },
    // Only keys carry `createdAt`: links, which also have a member, stay out of both indexes.
    {
      name: 'by-member',
      partitionKey: { name: 'member', type: 'S' },
      sortKey: { name: 'createdAt', type: 'N' },
    },
  ],
} as const satisfies TableSchema;

/** One item for each caller, and for each day of the deployment; see counters.ts and tallies.ts. */
export const quotaSchema = {
  partitionKey: { name: 'pk', type: 'S' },
  ttlAttribute: 'ttl',
  indexes: [],
} as const satisfies TableSchema;

/**
 * The highest BURST_LIMIT of callers without a budget that one item of `quotaSchema` can serve: a partition takes a thousand write
 * units a second, and the tokens of charges make an item grow.
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
