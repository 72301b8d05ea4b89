import { type AttributeValue, PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { isConditionFailure } from '../../lambda/aws/repeat.ts';
import { type Documents, inTime } from '../../lambda/store/admin/documents.ts';
import { stopMarker } from '../../lambda/store/dynamodb/stop.ts';
import { CommandError, explain } from '../command-line.ts';

type Item = Record<string, AttributeValue>;

interface Copying {
  readonly from: string;
  readonly to: string;
  /** Whether items that are there are replaced too, unless somebody has revoked them or given them an end since. */
  readonly overwrite: boolean;
  /** The key of the item after which to go on. */
  readonly after: string | undefined;
}

/** Counted from where it went on. */
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

/** Without a condition, keys that were revoked since would work again. */
const conditions = {
  missing: 'attribute_not_exists(pk)',
  overwrite: 'attribute_not_exists(revokedAt) AND attribute_not_exists(expiresAt)',
};

const pageSize = 500;
/** Writes at once. A batch of DynamoDB's own takes no conditions. */
const batch = 25;

/** Copies items as they are, but for an old stop. Whatever ends it, it can go on after the last item of a page. */
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
