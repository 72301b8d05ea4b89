import {
  type DynamoDBClient,
  ScanCommand,
  type ScanCommandInput,
  type ScanCommandOutput,
} from '@aws-sdk/client-dynamodb';
import { quotaSchema } from './schema.ts';

export interface CounterPage {
  /** How many items were looked at. */
  readonly scanned: number;
  readonly counters: readonly { readonly item: string; readonly used: number }[];
}

/** Reads the counters of some windows from the whole table, page by page; awaits `onPause` between two pages. */
export type ScanCounters = (windows: readonly string[], onPause: () => Promise<void>) => AsyncGenerator<CounterPage>;

/**
 * For operators only. An index by day would answer at once, but double the price of the one write of each request, while reading
 * a million counters costs a third of a cent.
 */
export function createScanCounters(client: DynamoDBClient, tableName: string): ScanCounters {
  const name = quotaSchema.partitionKey.name;
  return async function* (windows, onPause) {
    const values = windows.map((window, index) => [`:w${index}`, { S: `#${window}` }] as const);
    const inWindow = values.map(([placeholder]) => `contains(#item, ${placeholder})`).join(' OR ');
    let position: ScanCommandInput['ExclusiveStartKey'];
    do {
      const {
        Items = [],
        ScannedCount = 0,
        LastEvaluatedKey,
      }: ScanCommandOutput = await client.send(
        new ScanCommand({
          TableName: tableName,
          FilterExpression: `(${inWindow}) AND used > :zero`,
          ProjectionExpression: '#item, used',
          ExpressionAttributeNames: { '#item': name },
          ExpressionAttributeValues: { ...Object.fromEntries(values), ':zero': { N: '0' } },
          ExclusiveStartKey: position,
        }),
      );
      const counters = Items.map((item) => ({ item: item[name]?.S ?? '', used: Number(item.used?.N ?? 0) }));
      yield { scanned: ScannedCount, counters };
      position = LastEvaluatedKey;
      if (position) await onPause();
    } while (position);
  };
}
