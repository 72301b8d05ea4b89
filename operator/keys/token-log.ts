import type { ResultField } from '@aws-sdk/client-cloudwatch-logs';
import { CommandError } from '../command-line.ts';

/** How many answers there are, how many of them have no usage, and their tokens as upstreams bill them: what is summed up. */
const sums = {
  answers: 'count(*)',
  withoutUsage: 'count(usage)', // which only lines of answers without usage have
  input: 'sum(inputTokens)',
  cacheRead: 'sum(cacheReadTokens)',
  cacheWrite: 'sum(cacheWriteTokens)',
  output: 'sum(outputTokens)',
  reasoning: 'sum(reasoningTokens)',
};

export type TokenCounts = Readonly<Record<keyof typeof sums, number>>;

/** Those of one key. Guests have no key; a linked network has only a member. Members are hashes, as in the log. */
export interface TokenGroup {
  readonly key: string | undefined;
  readonly member: string | undefined;
  readonly counts: TokenCounts;
}

export interface TokenReport {
  readonly groups: readonly TokenGroup[];
  /** A note for the operator if something is missing. */
  readonly note?: string;
}

/** Sums up the log between two times, in epoch milliseconds. */
export type ReadTokens = (from: number, to: number) => Promise<TokenReport>;

/** Counts from what says how many there are of each. */
const countEach = (countOf: (name: keyof TokenCounts) => number) =>
  Object.fromEntries(Object.keys(sums).map((name) => [name, countOf(name as keyof TokenCounts)])) as Record<
    keyof TokenCounts,
    number
  >;

export const sumUp = (all: readonly TokenCounts[]): TokenCounts =>
  countEach((name) => all.reduce((sum, counts) => sum + counts[name], 0));

const mostRows = 10_000;
const mostPolls = 300;

const query = [
  'filter ispresent(inputTokens) or ispresent(outputTokens) or usage = "absent"',
  `stats ${Object.entries(sums)
    .map(([name, sum]) => `${sum} as ${name}`)
    .join(', ')} by key, member`,
  'sort answers desc',
].join(' | ');

/** Sums up the log of a deployed gateway with one query; `pause` is awaited between two looks at it. */
export async function readInsights(
  logGroupName: string,
  from: number,
  to: number,
  pause: () => Promise<unknown>,
): Promise<TokenReport> {
  const { CloudWatchLogsClient, GetQueryResultsCommand, StartQueryCommand, StopQueryCommand } = await import(
    '@aws-sdk/client-cloudwatch-logs'
  );
  const client = new CloudWatchLogsClient({});
  try {
    const { queryId } = await client.send(
      new StartQueryCommand({
        logGroupName,
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
        throw new CommandError(`CloudWatch ended the query of ${logGroupName} as ${status}: ${remedy}`);
      }
      await pause();
    }
    // Otherwise the query would run on and be billed.
    await client.send(new StopQueryCommand({ queryId })).catch(() => {});
    throw new CommandError(`CloudWatch took too long over the query of ${logGroupName}: ${remedy}`);
  } finally {
    client.destroy();
  }
}

const remedy = 'try again, or with fewer --days';

function toReport(rows: readonly ResultField[][]): TokenReport {
  const note = `CloudWatch gives ${mostRows} rows at most: keys with fewer answers than these are left out.`;
  return { groups: rows.map(toGroup), ...(rows.length >= mostRows && { note }) };
}

/** A field that is in no line of the group may be missing or empty. */
function toGroup(row: readonly ResultField[]): TokenGroup {
  const fields = new Map(row.map(({ field, value }) => [field, value]));
  const counts = countEach((name) => Number(fields.get(name) ?? 0));
  return { key: fields.get('key') || undefined, member: fields.get('member') || undefined, counts };
}
