import {
  type DynamoDBClient,
  ScanCommand,
  type ScanCommandInput,
  type ScanCommandOutput,
} from '@aws-sdk/client-dynamodb';
import { countOf } from './counters.ts';
import { quotaSchema } from './schema.ts';

interface CounterPage {
  /** How many items were looked at. */
  readonly scanned: number;
  readonly counters: readonly { readonly item: string; readonly ofDay: number; readonly ofLifetime: number }[];
}

/** Reads what is used of a day and of lifetimes from the whole table, page by page; awaits `onPause` between two pages. */
export type ScanCounters = (day: number, onPause: () => Promise<void>) => AsyncGenerator<CounterPage>;

/**
 * For operators only. An index by day would answer at once, but double the price of the one write of each request, while reading
 * a million counters costs a third of a cent.
 */
export function createScanCounters(client: DynamoDBClient, tableName: string): ScanCounters {
  const name = quotaSchema.partitionKey.name;
  return async function* (day, onPause) {
    const [ofDay, ofLifetime] = [countOf(day), countOf(undefined)];
    let position: ScanCommandInput['ExclusiveStartKey'];
    do {
      const {
        Items = [],
        ScannedCount = 0,
        LastEvaluatedKey,
      }: ScanCommandOutput = await client.send(
        new ScanCommand({
          TableName: tableName,
          FilterExpression: `${ofDay} > :zero OR ${ofLifetime} > :zero`,
          ProjectionExpression: `#item, ${ofDay}, ${ofLifetime}`,
          ExpressionAttributeNames: { '#item': name },
          ExpressionAttributeValues: { ':zero': { N: '0' } },
          ExclusiveStartKey: position,
        }),
      );
      const counters = Items.map((item) => ({
        item: item[name]?.S ?? '',
        ofDay: Number(item[ofDay]?.N ?? 0),
        ofLifetime: Number(item[ofLifetime]?.N ?? 0),
      }));
      yield { scanned: ScannedCount, counters };
      position = LastEvaluatedKey;
      if (position) await onPause();
    } while (position);
  };
}
