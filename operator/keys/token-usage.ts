import { memberHash, memberLabel } from '../../lambda/identity/identify.ts';
import type { KeyRecord } from '../../lambda/identity/keys.ts';
import { keyOf, subkeyOf } from '../../lambda/settings/secrets.ts';
import type { Outcome } from '../command-line.ts';
import type { Prices } from './arguments.ts';
import { isoTime, renderTable, showText, showTime } from './table.ts';
import type { Target } from './target.ts';
import { addCounts, noTokens, type TokenCounts, type TokenGroup } from './token-log.ts';

export interface TokenQuery {
  readonly days: number;
  /** How many rows each table shows. */
  readonly top: number;
  readonly prices: Prices | undefined;
}

/** Who used how many tokens, and what they cost: by key, and by member. */
export async function showTokenUsage(target: Target, { days, top, prices }: TokenQuery, now: number): Promise<Outcome> {
  const from = now - days * 86_400_000;
  const [{ groups, note }, names] = await Promise.all([target.readTokens(from, now), readNames(target)]);
  const measure = (counts: TokenCounts) => ({ ...counts, cost: prices ? costOf(counts, prices) : null });
  const byWeight = (a: TokenCounts, b: TokenCounts) => weigh(b, prices) - weigh(a, prices);
  const describe = ({ key, member, counts }: TokenGroup) => ({
    key: key ?? null,
    label: names.labels.get(key ?? '') || null,
    ...describeMember(member, names.members),
    ...measure(counts),
  });
  const keys = groups.toSorted((a, b) => byWeight(a.counts, b.counts)).map(describe);
  const members = sumMembers(groups)
    .toSorted((a, b) => byWeight(a.counts, b.counts))
    .map(({ member, counts }) => ({ ...describeMember(member, names.members), ...measure(counts) }));
  const total = measure(groups.map(({ counts }) => counts).reduce(addCounts, noTokens));

  const headings = ['ANSWERS', 'NO USAGE', 'INPUT', 'CACHE READ', 'CACHE WRITE', 'OUTPUT', 'REASONING'];
  const figures = [...headings, ...(prices ? ['COST'] : [])];
  const keyRows = keys
    .slice(0, top)
    .map((row) => [row.key ?? '', showText(row.label ?? ''), showMember(row), ...showFigures(row)]);
  const memberRows = members.slice(0, top).map((row) => [showMember(row), ...showFigures(row)]);
  const span = `from ${showTime(from)} to ${showTime(now)}`;
  const text = [
    ...(keys.length > 0
      ? [
          renderTable(['KEY', 'LABEL', 'MEMBER', ...figures], keyRows),
          '',
          renderTable(['MEMBER', ...figures], [...memberRows, ['all', ...showFigures(total)]]),
          '',
        ]
      : []),
    `${total.answers} answers ${span}; ${total.withoutUsage} of them did not report their tokens.`,
    ...(note === undefined ? [] : [note]),
  ];
  const json = { from: isoTime(from), to: isoTime(now), prices: prices ?? null, total, keys, members };
  return { json: { ...json, note: note ?? null }, text: text.join('\n') };
}

/** In dollars. The input includes what was read from the cache or written to it, at other prices. */
function costOf({ input, cacheRead, cacheWrite, output }: TokenCounts, prices: Prices): number {
  const fresh = input - cacheRead - cacheWrite;
  const millionths =
    fresh * prices.input + cacheRead * prices.cacheRead + cacheWrite * prices.cacheWrite + output * prices.output;
  return Math.round(millionths) / 1_000_000;
}

const weigh = (counts: TokenCounts, prices: Prices | undefined): number =>
  prices ? costOf(counts, prices) : counts.input + counts.output;

function sumMembers(groups: readonly TokenGroup[]) {
  const sums = new Map<string | undefined, TokenCounts>();
  for (const { member, counts } of groups) sums.set(member, addCounts(sums.get(member) ?? noTokens, counts));
  return [...sums].map(([member, counts]) => ({ member, counts }));
}

interface Names {
  /** By their hashes. */
  readonly members: ReadonlyMap<string, string>;
  /** By the ids of their keys. */
  readonly labels: ReadonlyMap<string, string>;
}

/** Hashes can't be reversed, so this hashes the members of all keys to find the names. */
async function readNames({ keys, readNetworkSalt }: Target): Promise<Names> {
  const subkey = subkeyOf(keyOf(await readNetworkSalt()), memberLabel);
  const records: KeyRecord[] = [];
  let from: string | undefined;
  do {
    const page = await keys.list({ from, pageSize: 1000 });
    records.push(...page.keys);
    from = page.next;
  } while (from !== undefined);
  return {
    members: new Map(records.map(({ member }) => [memberHash(subkey, member), member])),
    labels: new Map(records.map(({ id, label = '' }) => [id, label])),
  };
}

/** A member without keys, or with only a linked network, stays a hash. */
const describeMember = (hash: string | undefined, members: Names['members']) => ({
  member: members.get(hash ?? '') ?? null,
  memberHash: hash ?? null,
});

const showMember = ({ member, memberHash: hash }: ReturnType<typeof describeMember>): string =>
  member ?? (hash === null ? 'guests' : `hash ${hash}`);

function showFigures({ cost, ...counts }: TokenCounts & { readonly cost: number | null }): string[] {
  const { answers, withoutUsage, input, cacheRead, cacheWrite, output, reasoning } = counts;
  const numbers = [answers, withoutUsage, input, cacheRead, cacheWrite, output, reasoning].map(String);
  return cost === null ? numbers : [...numbers, `$${cost.toFixed(4)}`];
}
