import { type Finding, fail, ok, type Row, untested } from '../examination/row.ts';
import { countTokensPath, dialectProbes, messagesProbe, whoAreYou } from './dialect-probes.ts';
import { examineCases } from './examine-errors.ts';
import { readFigures } from './figures.ts';
import type { Acquaintance } from './greet.ts';
import type { IssueCommand } from './issue-command.ts';
import { type ExpectedError, faultInError } from './judge-error.ts';
import { type Probe, quote } from './probe.ts';

const tooFast: ExpectedError = { code: 'rate_limited', shape: 'messages', headers: { 'retry-after': /^[1-9]\d?$/ } };

/** If this many requests reach no burst limit, it is higher. */
const mostCounts = 60;

/** The two refusals that a key with quota left does not get. With a spent key both are free. */
export async function* examineRefusals(
  ask: Probe,
  spentKey: string | undefined,
  known: Acquaintance,
  issueKey: IssueCommand,
): AsyncGenerator<Row> {
  const aSpentKey = `give it a key without quota with --spent-key (${issueKey(0)})`;
  const row = (check: string, finding: Finding): Row => ({ area: 'errors', check, ...finding });
  const [spent, burst] = ['a quota that is spent', 'too many in a minute'];
  const reason = spentKey === undefined ? aSpentKey : await whyNotSpent(ask, spentKey, known.headerPrefix, aSpentKey);
  if (spentKey === undefined || reason !== undefined) {
    yield row(spent, untested(reason ?? aSpentKey));
    yield row(burst, untested(reason ?? aSpentKey));
    return;
  }
  const [model] = known.models;
  const cases = dialectProbes.map((dialect) => ({
    ask: {
      method: 'POST' as const,
      path: dialect.path,
      headers: dialect.keyHeaders(spentKey),
      body: dialect.question(model, whoAreYou),
    },
    expected: {
      code: 'quota_exceeded' as const,
      shape: dialect.name === messagesProbe.name ? ('messages' as const) : ('openai' as const),
      headers: { 'retry-after': /^\d+$/, 'x-should-retry': /^false$/ },
    },
  }));
  yield await examineCases(ask, spent, cases, known.headerPrefix);
  yield row(burst, await countUntilRefused(ask, spentKey, known));
}

async function whyNotSpent(
  ask: Probe,
  spentKey: string,
  headerPrefix: string,
  remedy: string,
): Promise<string | undefined> {
  const reply = await ask({ method: 'GET', path: '/v1/models', headers: { authorization: `Bearer ${spentKey}` } });
  const { remaining, limit } = readFigures(reply, headerPrefix);
  if (reply.status !== 200) return `the spent key gets ${quote(reply)}`;
  return remaining === 0 ? undefined : `the spent key has ${remaining} of ${limit} left; ${remedy}`;
}

/** Counting tokens is free, and has its own burst limit. */
async function countUntilRefused(ask: Probe, key: string, { models, headerPrefix }: Acquaintance): Promise<Finding> {
  const body = messagesProbe.question(models[0], whoAreYou);
  for (let count = 1; count <= mostCounts; count += 1) {
    const reply = await ask({ method: 'POST', path: countTokensPath, headers: messagesProbe.keyHeaders(key), body });
    if (reply.status >= 500) return fail(`${reply.title} answered ${quote(reply)}`);
    if (reply.status !== 429) continue;
    const fault = faultInError(reply, tooFast, headerPrefix);
    return fault === undefined ? ok(`after ${count - 1} in a minute`) : fail(`${reply.title}: ${fault}`);
  }
  return untested(`${mostCounts} within a minute passed: BURST_LIMIT is above that`);
}
