import { ScanCommand } from '@aws-sdk/client-dynamodb';
import type { TestGateway } from '../support/gateway.ts';
import type { Ledger } from './ledger.ts';
import type { Rules } from './rules.ts';

/** What the quota table must agree with at the end. */
interface Expected {
  readonly rules: Rules;
  readonly ledger: Ledger;
  /** Whether the table also sums up what all callers spend. */
  readonly sumsAll: boolean;
  readonly time: number;
}

type Item = Readonly<Record<string, { readonly N?: string | undefined }>>;
type Items = ReadonlyMap<string, Item>;

/** The differences between the quota table and the rules and, down to a millionth, the ledger. */
export async function compareTable({ dynamoDb }: TestGateway, expected: Expected): Promise<string[]> {
  const items = await readItems(dynamoDb);
  const sums = expected.sumsAll ? compareDays(items, expected.ledger) : [];
  return [...compareCounters(items, expected.rules), ...compareBudgets(items, expected), ...sums];
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

function compareCounters(items: Items, rules: Rules): string[] {
  const faults: string[] = [];
  const uncounted = namesIn(items, /^u(\d|lifetime)/);
  for (const [name, counter] of rules.counted()) {
    const [, item = name, day] = /^(?!count_tokens)(.*)#(.*?)$/.exec(name) ?? [];
    const found = items.get(item) ?? {};
    const used = day === undefined || day === 'lifetime' ? 'ulifetime' : `u${Date.parse(day) / 86_400_000}`;
    uncounted.delete(`${item} ${used}`);
    const within = (count: number, least: number) => count >= least && count <= least + counter.doubt;
    const standing = Number(found[used]?.N ?? 0);
    if (isKept(found, used) && !within(standing, counter.used))
      faults.push(`${name} is ${standing}, not ${counter.used} (doubtful: ${counter.doubt})`);
    const minute = Math.max(...counter.minutes.keys());
    const burst = Number(found[`n${minute}`]?.N ?? 0);
    if (isKept(found, `n${minute}`) && !within(burst, counter.minutes.get(minute) ?? 0))
      faults.push(`${name} has ${burst} in its last minute`);
  }
  return [...faults, ...[...uncounted].map(tooMuch)];
}

/** Compares what each budget's period holds. No reservation may be left open. */
function compareBudgets(items: Items, { ledger, time }: Expected): string[] {
  const faults: string[] = [];
  const unknown = namesIn(items, /^[bh]/);
  for (const [name, { spent, doubt, keptUntil }] of ledger.accounts()) {
    const [item = '', attribute = ''] = name.split(' ');
    const found = items.get(item) ?? {};
    const taken = Number(found[attribute]?.N ?? 0);
    const isGone = !(attribute in found) && time > keptUntil;
    if (!isGone && (taken < spent || taken > spent + doubt))
      faults.push(`${name} is ${taken}, not ${spent} (doubtful: ${doubt})`);
    for (const other of unknown) {
      if (other === name || (doubt > 0 && other.startsWith(`${item} h`))) unknown.delete(other);
    }
  }
  return [...faults, ...[...unknown].map(tooMuch)];
}

function compareDays(items: Items, ledger: Ledger): string[] {
  const differences = new Map([...ledger.days()].map(([day, cost]) => [day, -cost]));
  for (const [item, { used }] of items) {
    const [, day] = /^spend_limit#(\d+)#/.exec(item) ?? [];
    if (day !== undefined) differences.set(Number(day), (differences.get(Number(day)) ?? 0) + Number(used?.N));
  }
  const wrong = [...differences].filter(([, difference]) => difference !== 0);
  return wrong.map(([day, difference]) => `day ${day} cost ${difference} more than the ledger says`);
}

/** The attributes with such names, as `item name`. */
function namesIn(items: Items, pattern: RegExp): Set<string> {
  const names = [...items].flatMap(([item, attributes]) =>
    Object.keys(attributes).map((name) => [item, name] as const),
  );
  return new Set(names.flatMap(([item, name]) => (pattern.test(name) ? [`${item} ${name}`] : [])));
}

const tooMuch = (name: string): string => `${name} is in the table, and should not be`;

/** Of days and minutes, those before the last but one may be gone. */
function isKept(item: Item, name: string): boolean {
  const [kind = ''] = name;
  const numbers = Object.keys(item)
    .filter((other) => other.startsWith(kind))
    .map((other) => Number(other.slice(1)));
  return !numbers.some((number) => number - 1 > Number(name.slice(1)));
}
