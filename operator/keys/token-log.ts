import type { ResultField } from '@aws-sdk/client-cloudwatch-logs';
import { CommandError } from '../command-line.ts';

/** The tokens of all answers in a period, as their upstreams bill them. */
export interface TokenCounts {
  readonly answers: number;
  /** Of these, the ones that did not report their tokens. */
  readonly withoutUsage: number;
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
  readonly reasoning: number;
}

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

/** The fields of a line with their sums' names. */
const tokenFields = {
  input: 'inputTokens',
  cacheRead: 'cacheReadTokens',
  cacheWrite: 'cacheWriteTokens',
  output: 'outputTokens',
  reasoning: 'reasoningTokens',
} as const;

export const noTokens: TokenCounts = {
  ...{ answers: 0, withoutUsage: 0 },
  ...{ input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 },
};

/** Counts from what says how many there are of each. */
const countEach = (countOf: (name: keyof TokenCounts) => number): TokenCounts =>
  Object.fromEntries(
    Object.keys(noTokens).map((name) => [name, countOf(name as keyof TokenCounts)]),
  ) as unknown as TokenCounts;

export const addCounts = (a: TokenCounts, b: TokenCounts): TokenCounts => countEach((name) => a[name] + b[name]);

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
  const groups = rows.map(toGroup);
  if (rows.length < mostRows) return { groups };
  const note = `CloudWatch gives ${mostRows} rows at most: keys with fewer answers than these are left out.`;
  return { groups, note };
}

/** A field that is in no line of the group may be missing or empty. */
function toGroup(row: readonly ResultField[]): TokenGroup {
  const fields = new Map(row.map(({ field, value }) => [field, value]));
  const counts = countEach((name) => Number(fields.get(name) ?? 0));
  return { key: fields.get('key') || undefined, member: fields.get('member') || undefined, counts };
}
