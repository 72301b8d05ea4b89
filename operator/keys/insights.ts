import type { ResultField } from '@aws-sdk/client-cloudwatch-logs';
import { CommandError } from '../command-error.ts';
import { type TokenGroup, type TokenReport, tokenFields } from './token-log.ts';

/** The most rows that CloudWatch returns for a query. */
const mostRows = 10_000;
const mostPolls = 300;

const sums = Object.entries(tokenFields).map(([kind, field]) => `sum(${field}) as ${kind}`);

/** Only lines of answers without usage have a `usage`. */
const query = [
  `filter ispresent(${tokenFields.input}) or ispresent(${tokenFields.output}) or usage = "absent"`,
  `stats count(*) as answers, count(usage) as withoutUsage, ${sums.join(', ')} by key, member`,
  'sort answers desc',
].join(' | ');

/**
 * Sums up the log of a deployed gateway with one query. The client is loaded only here, and finds region and credentials in the
 * environment. `pause` is awaited between two looks at the query.
 */
export async function readInsights(
  logGroups: readonly string[],
  from: number,
  to: number,
  pause: () => Promise<unknown>,
): Promise<TokenReport> {
  const { CloudWatchLogsClient, GetQueryResultsCommand, StartQueryCommand, StopQueryCommand } = await import(
    '@aws-sdk/client-cloudwatch-logs'
  );
  const client = new CloudWatchLogsClient({});
  const logs = logGroups.join(' and ');
  try {
    const { queryId } = await client.send(
      new StartQueryCommand({
        logGroupNames: [...logGroups],
        queryString: query,
        startTime: Math.floor(from / 1000),
        endTime: Math.ceil(to / 1000),
        limit: mostRows,
      }),
    );
    for (let polls = 0; polls < mostPolls; polls += 1) {
      const { status = 'Unknown', results = [] } = await client.send(new GetQueryResultsCommand({ queryId }));
      if (status === 'Complete') return toReport(results);
      if (!['Scheduled', 'Running'].includes(status)) {
        throw new CommandError(`CloudWatch ended the query of ${logs} as ${status}: ${remedy}`);
      }
      await pause();
    }
    // Otherwise the query would run on and be billed.
    await client.send(new StopQueryCommand({ queryId })).catch(() => {});
    throw new CommandError(`CloudWatch took too long over the query of ${logs}: ${remedy}`);
  } finally {
    client.destroy();
  }
}

const remedy = 'try again, or with fewer --days';

function toReport(rows: readonly ResultField[][]): TokenReport {
  const groups = rows.map(toGroup);
  if (rows.length < mostRows) return { groups };
  const note = `CloudWatch gives ${mostRows} rows at most: keys with fewer answers than these are left out.`;
  return { groups, note };
}

/** A field that is in no line of the group may be missing or empty. */
function toGroup(row: readonly ResultField[]): TokenGroup {
  const fields = new Map(row.map(({ field, value }) => [field, value]));
  const number = (name: string) => Number(fields.get(name) ?? 0);
  return {
    key: fields.get('key') || undefined,
    member: fields.get('member') || undefined,
    counts: {
      answers: number('answers'),
      withoutUsage: number('withoutUsage'),
      input: number('input'),
      cacheRead: number('cacheRead'),
      cacheWrite: number('cacheWrite'),
      output: number('output'),
      reasoning: number('reasoning'),
    },
  };
}
