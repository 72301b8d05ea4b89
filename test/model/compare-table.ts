import { ScanCommand } from '@aws-sdk/client-dynamodb';
import type { TestGateway } from '../support/gateway.ts';
import type { Ledger } from './ledger.ts';
import type { Rules } from './rules.ts';

/** What the quota table must agree with at the end. */
interface Expected {
  readonly rules: Rules;
  readonly ledger: Ledger;
  /** Whether the table also sums up the spending of all callers. */
  readonly sumsAll: boolean;
  readonly time: number;
}

type Item = Readonly<Record<string, { readonly N?: string | undefined }>>;
type Items = ReadonlyMap<string, Item>;

/** The differences between the quota table and the rules, and down to a millionth the ledger. */
export async function compareTable({ dynamoDb }: TestGateway, expected: Expected): Promise<string[]> {
  const items = await readItems(dynamoDb);
  const sums = expected.sumsAll ? compareDays(items, expected.ledger) : [];
  return [...compareCounts(items, expected), ...sums];
}

async function readItems({ client, quotaTable }: TestGateway['dynamoDb']): Promise<Items> {
  const items = new Map<string, Item>();
  let from: Record<string, never> | undefined;
  do {
    const command = new ScanCommand({ TableName: quotaTable, ConsistentRead: true, ExclusiveStartKey: from });
    const page = await client.send(command);
    for (const { pk, ...rest } of page.Items ?? []) items.set(pk?.S ?? '', rest);
    from = page.LastEvaluatedKey as Record<string, never> | undefined;
  } while (from);
  return items;
}

/** Compares the counts of requests and budgets. No reservation may be left open. */
function compareCounts(items: Items, { rules, ledger, time }: Expected): string[] {
  const faults: string[] = [];
  const unknown = new Set(
    [...items].flatMap(([item, counts]) => Object.keys(counts).map((name) => `${item} ${name}`)).filter(isCount),
  );
  const compare = (
    name: string,
    least: number,
    doubt: number,
    mayBeGone: (counts: Item, attribute: string) => boolean,
  ) => {
    const [item = '', attribute = ''] = name.split(' ');
    const counts = items.get(item) ?? {};
    const count = Number(counts[attribute]?.N ?? 0);
    const isGone = !(attribute in counts) && mayBeGone(counts, attribute);
    if (!isGone && (count < least || count > least + doubt))
      faults.push(`${name} is ${count}, not ${least} (doubtful: ${doubt})`);
    unknown.delete(name);
    for (const other of unknown) if (doubt > 0 && other.startsWith(`${item} h`)) unknown.delete(other);
  };
  for (const [name, { used, doubt, minutes }] of rules.counted()) {
    compare(name, used, doubt, isOutdated);
    const last = Math.max(...minutes.keys());
    compare(name.replace(/ .*/, ` n${last}`), minutes.get(last) ?? 0, doubt, isOutdated);
  }
  for (const [name, { spent, doubt, keptUntil }] of ledger.accounts())
    compare(name, spent, doubt, () => time > keptUntil);
  return [...faults, ...[...unknown].map((name) => `${name} is in the table, and should not be`)];
}

const isCount = (name: string): boolean => / (u\d|ulifetime|b|h)/.test(name);

/** Days and minutes before the last but one may have been removed. */
function isOutdated(counts: Item, attribute: string): boolean {
  const [kind = ''] = attribute;
  const numbers = Object.keys(counts).flatMap((other) => (other.startsWith(kind) ? [Number(other.slice(1))] : []));
  return numbers.some((number) => number - 1 > Number(attribute.slice(1)));
}

function compareDays(items: Items, ledger: Ledger): string[] {
  const differences = new Map([...ledger.days()].map(([day, cost]) => [day, -cost]));
  for (const [item, { spent }] of items) {
    const [, day] = /^deployment#(\d+)$/.exec(item) ?? [];
    if (day !== undefined) differences.set(Number(day), (differences.get(Number(day)) ?? 0) + Number(spent?.N));
  }
  const wrong = [...differences].filter(([, difference]) => difference !== 0);
  return wrong.map(([day, difference]) => `day ${day} cost ${difference} more than the ledger says`);
}
