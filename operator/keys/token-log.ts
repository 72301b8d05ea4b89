import type { ResultField } from '@aws-sdk/client-cloudwatch-logs';
import { CommandError } from '../command-line.ts';

/** The columns of the table, each with the query that sums it up from the log. Tokens are those that the upstream bills. */
export const figures = {
  answers: { heading: 'ANSWERS', sum: 'count(*)' },
  withoutUsage: { heading: 'NO USAGE', sum: 'count(usage)' }, // only logged when an answer had no usage
  input: { heading: 'INPUT', sum: 'sum(inputTokens)' },
  cacheRead: { heading: 'CACHE READ', sum: 'sum(cacheReadTokens)' },
  cacheWrite: { heading: 'CACHE WRITE', sum: 'sum(cacheWriteTokens)' },
  output: { heading: 'OUTPUT', sum: 'sum(outputTokens)' },
  reasoning: { heading: 'REASONING', sum: 'sum(reasoningTokens)' },
};

export const figureNames = Object.keys(figures) as (keyof typeof figures)[];

export type TokenCounts = Readonly<Record<keyof typeof figures, number>>;

/** The tokens of one key. Guests have neither key nor member, linked networks only a member. Members are hashed, as in the log. */
export interface TokenGroup {
  readonly key: string | undefined;
  readonly member: string | undefined;
  readonly counts: TokenCounts;
}

/** Sums up the log between two times, in epoch milliseconds. */
export type ReadTokens = (from: number, to: number) => Promise<readonly TokenGroup[]>;

export const countEach = (countOf: (name: keyof TokenCounts) => number) =>
  Object.fromEntries(figureNames.map((name) => [name, countOf(name)])) as TokenCounts;

/** The most rows that CloudWatch returns. */
export const mostGroups = 10_000;

const query = [
  'filter ispresent(inputTokens) or ispresent(outputTokens) or usage = "absent"',
  `stats ${figureNames.map((name) => `${figures[name].sum} as ${name}`).join(', ')} by key, member`,
  'sort answers desc',
].join(' | ');

/** Sums up the log of a deployed gateway with one query, polling for its result; `pause` is awaited between polls. */
export async function readInsights(
  logGroupName: string,
  from: number,
  to: number,
  pause: () => Promise<unknown>,
): Promise<readonly TokenGroup[]> {
  const { CloudWatchLogsClient, GetQueryResultsCommand, StartQueryCommand } = await import(
    '@aws-sdk/client-cloudwatch-logs'
  );
  const client = new CloudWatchLogsClient({});
  try {
    const span = { startTime: Math.floor(from / 1000), endTime: Math.ceil(to / 1000) };
    const { queryId } = await client.send(
      new StartQueryCommand({ logGroupName, queryString: query, ...span, limit: mostGroups }),
    );
    for (;;) {
      const { status = 'Unknown', results = [] } = await client.send(new GetQueryResultsCommand({ queryId }));
      if (status === 'Complete') return results.map(toGroup);
      // No deadline here: CloudWatch times out slow queries itself.
      if (!['Scheduled', 'Running'].includes(status)) {
        const remedy = 'try again, or with fewer --days';
        throw new CommandError(`CloudWatch ended the query of ${logGroupName} as ${status}: ${remedy}`);
      }
      await pause();
    }
  } finally {
    client.destroy();
  }
}

/** A field that no line of the group has may be missing or empty. */
function toGroup(row: readonly ResultField[]): TokenGroup {
  const fields = new Map(row.map(({ field, value }) => [field, value]));
  const counts = countEach((name) => Number(fields.get(name) ?? 0));
  return { key: fields.get('key') || undefined, member: fields.get('member') || undefined, counts };
}
