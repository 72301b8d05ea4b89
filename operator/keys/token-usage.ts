import { memberHash, memberLabel } from '../../lambda/identity/member.ts';
import { keyOf, subkeyOf } from '../../lambda/settings/secrets.ts';
import type { Outcome } from '../command-line.ts';
import { count, isoTime, renderTable, showTime } from '../table.ts';
import type { Prices } from './arguments.ts';
import type { Target } from './target.ts';
import { countEach, figureNames, figures, mostGroups, type TokenCounts, type TokenGroup } from './token-log.ts';

interface TokenQuery {
  readonly days: number;
  readonly top: number;
  readonly prices: Prices | undefined;
}

export async function showTokenUsage(target: Target, { days, top, prices }: TokenQuery, now: number): Promise<Outcome> {
  const from = now - days * 86_400_000;
  const [groups, names] = await Promise.all([target.readTokens(from, now), readNames(target)]);
  const measure = (counts: TokenCounts) => ({ ...counts, cost: prices ? costOf(counts, prices) : null });
  const weigh = ({ counts }: Pick<TokenGroup, 'counts'>) =>
    prices ? costOf(counts, prices) : counts.input + counts.output;
  const describe = ({ member, counts }: Omit<TokenGroup, 'key'>) => ({
    // A member without keys, or with only a linked network, stays a hash.
    member: names.members.get(member ?? '') ?? null,
    memberHash: member ?? null,
    ...measure(counts),
  });
  const keys = groups
    .toSorted((a, b) => weigh(b) - weigh(a))
    .map((group) => ({
      key: group.key ?? null,
      label: names.labels.get(group.key ?? '') || null,
      ...describe(group),
    }));
  const members = [...Map.groupBy(groups, ({ member }) => member)]
    .map(([member, own]) => ({ member, counts: sumUp(own.map(({ counts }) => counts)) }))
    .toSorted((a, b) => weigh(b) - weigh(a))
    .map(describe);
  const total = measure(sumUp(groups.map(({ counts }) => counts)));

  const headings = [...figureNames.map((name) => figures[name].heading), ...(prices ? ['COST'] : [])];
  const keyRows = keys
    .slice(0, top)
    .map((row) => [row.key ?? '', row.label ?? '', showMember(row), ...showFigures(row)]);
  const memberRows = members.slice(0, top).map((row) => [showMember(row), ...showFigures(row)]);
  const span = `from ${showTime(from)} to ${showTime(now)}`;
  const tables = [
    renderTable(['KEY', 'LABEL', 'MEMBER', ...headings], keyRows),
    '',
    renderTable(['MEMBER', ...headings], [...memberRows, ['all', ...showFigures(total)]]),
    '',
  ];
  const note =
    groups.length >= mostGroups
      ? `CloudWatch gives ${mostGroups} rows at most: keys with fewer answers than these are left out.`
      : null;
  const text = [
    ...(keys.length > 0 ? tables : []),
    `${count(total.answers, 'answer')} ${span}; ${total.withoutUsage} of them did not report their tokens.`,
    ...(note === null ? [] : [note]),
  ];
  const json = { from: isoTime(from), to: isoTime(now), prices: prices ?? null, total, keys, members, note };
  return { json, text: text.join('\n') };
}

const sumUp = (all: readonly TokenCounts[]): TokenCounts =>
  countEach((name) => all.reduce((sum, counts) => sum + counts[name], 0));

/** In dollars. Input tokens include cache reads and writes, which have prices of their own. */
function costOf({ input, cacheRead, cacheWrite, output }: TokenCounts, prices: Prices): number {
  const fresh = input - cacheRead - cacheWrite;
  const millionths =
    fresh * prices.input + cacheRead * prices.cacheRead + cacheWrite * prices.cacheWrite + output * prices.output;
  return Math.round(millionths) / 1_000_000;
}

/** Maps hashes to members and key ids to labels. Hashes can't be reversed, so this hashes the member of every key. */
async function readNames(target: Target) {
  const subkey = subkeyOf(keyOf(await target.readNetworkSalt()), memberLabel);
  const records = await target.keys.list();
  return {
    members: new Map(records.map(({ member }) => [memberHash(subkey, member), member])),
    labels: new Map(records.map(({ id, label = '' }) => [id, label])),
  };
}

const showMember = ({ member, memberHash: hash }: { member: string | null; memberHash: string | null }): string =>
  member ?? (hash === null ? 'guests' : `hash ${hash}`);

function showFigures({ cost, ...counts }: TokenCounts & { readonly cost: number | null }): string[] {
  const numbers = figureNames.map((name) => `${counts[name]}`);
  return cost === null ? numbers : [...numbers, `$${cost.toFixed(4)}`];
}
