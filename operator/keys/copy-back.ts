import { type AttributeValue, PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { isConditionFailure } from '../../lambda/aws/repeat.ts';
import { type Documents, inTime } from '../../lambda/store/admin/documents.ts';
import { stopMarker } from '../../lambda/store/dynamodb/stop.ts';
import { CommandError, explain } from '../command-line.ts';

type Item = Record<string, AttributeValue>;

interface Copying {
  readonly from: string;
  readonly to: string;
  /** Whether to overwrite existing items too, except those that were revoked or given an expiry since. */
  readonly overwrite: boolean;
  /** Resumes after the item with this key. */
  readonly after: string | undefined;
}

/** Counts since this run started or resumed. */
export interface Copied {
  readonly read: number;
  readonly copied: number;
  readonly kept: number;
  readonly last: string | undefined;
}

interface Dependencies {
  readonly documents: Documents;
  readonly onPage: (progress: Copied) => Promise<void>;
}

/** An unconditional write would bring back keys that were revoked since. */
const conditions = {
  missing: 'attribute_not_exists(pk)',
  overwrite: 'attribute_not_exists(revokedAt) AND attribute_not_exists(expiresAt)',
};

const pageSize = 500;
/** Concurrent writes. BatchWriteItem takes no conditions. */
const batch = 25;

/** Copies all items unchanged, except an old stop. If interrupted, it can resume after the last full page. */
export async function copyBack(
  { from, to, overwrite, after }: Copying,
  { documents, onPage }: Dependencies,
): Promise<Copied> {
  const ConditionExpression = overwrite ? conditions.overwrite : conditions.missing;
  const put = async (Item: Item): Promise<boolean> => {
    const command = new PutItemCommand({ TableName: to, Item, ConditionExpression });
    try {
      await inTime((abortSignal) => documents.send(command, { abortSignal }));
      return true;
    } catch (error) {
      if (!isConditionFailure(error)) throw error;
      return false;
    }
  };
  let progress: Copied = { read: 0, copied: 0, kept: 0, last: after };
  try {
    for (;;) {
      const ExclusiveStartKey = progress.last === undefined ? undefined : { pk: { S: progress.last } };
      const command = new ScanCommand({ TableName: from, Limit: pageSize, ExclusiveStartKey });
      const { Items = [], LastEvaluatedKey } = await inTime((abortSignal) => documents.send(command, { abortSignal }));
      const wanted = Items.filter(({ pk }) => pk?.S !== stopMarker);
      let copied = 0;
      for (let start = 0; start < wanted.length; start += batch) {
        const done = await Promise.all(wanted.slice(start, start + batch).map(put));
        copied += done.filter(Boolean).length;
      }
      progress = {
        read: progress.read + Items.length,
        copied: progress.copied + copied,
        kept: progress.kept + wanted.length - copied,
        last: LastEvaluatedKey?.pk?.S,
      };
      if (progress.last === undefined) return progress;
      await onPage(progress);
    }
  } catch (error) {
    const { last } = progress;
    const goOn = last === undefined ? 'run it again' : `go on with --after '${last}'`;
    throw new CommandError(`${explain(error).replace(/\.$/, '')}: ${goOn}`);
  }
}
