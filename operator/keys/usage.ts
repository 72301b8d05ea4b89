import { type CounterName, dayOf, readCounterName } from '../../lambda/quota/policy.ts';
import type { Outcome } from '../command-line.ts';
import { renderTable, showText } from './table.ts';
import type { Target } from './target.ts';

export interface UsageQuery {
  /** How many to show, the highest first. */
  readonly top: number;
}

export interface Pace {
  /** Awaited between two pages, so that reading takes nothing from the gateway's own requests. */
  readonly pause: () => Promise<void>;
  /** Called with the number of counters read so far. */
  readonly onProgress: (scanned: number) => void;
}

interface User {
  readonly counter: CounterName;
  readonly used: number;
}

/** Who used how much today. Reads the whole table, since there is no index, and keeps no more than it shows. */
export async function showUsage(
  target: Target,
  { top }: UsageQuery,
  now: number,
  { pause, onProgress }: Pace,
): Promise<Outcome> {
  const day = new Date(now).toISOString().slice(0, 10);
  const today = { users: 0, requests: 0 };
  const guests = { networks: 0, requests: 0 };
  let users: User[] = [];
  let scanned = 0;
  for await (const page of target.scanCounters(dayOf(now).period, pause)) {
    for (const { item, ofDay, ofLifetime } of page.counters) {
      const counter = readCounterName(item);
      if (!counter) continue;
      if (ofLifetime > 0) {
        guests.networks += 1;
        guests.requests += ofLifetime;
      }
      if (ofDay > 0) {
        today.users += 1;
        today.requests += ofDay;
        users.push({ counter, used: ofDay });
      }
    }
    users = users.toSorted((a, b) => b.used - a.used).slice(0, top);
    scanned += page.scanned;
    onProgress(scanned);
  }
  const shown = await Promise.all(users.map((user) => describe(user, target)));
  const rows = shown.map(({ kind, id, member, label, used, limit }) => [
    ...[kind, id, kind === 'key' ? (member ?? '') : '', showText(label ?? '')],
    ...[`${used}`, limit === null ? '' : `${limit}`],
  ]);
  const totals = [
    `${today.requests} requests today (${day}, UTC) by ${today.users} members, keys and daily guests.`,
    ...(guests.networks > 0
      ? [`${guests.requests} requests of ${guests.networks} guests, each within its lifetime.`]
      : []),
  ];
  const table = rows.length > 0 ? [renderTable(['KIND', 'ID', 'MEMBER', 'LABEL', 'USED', 'LIMIT'], rows), ''] : [];
  return { json: { day, ...today, guests, top: shown }, text: [...table, ...totals].join('\n') };
}

/** A key with its own counter is shown with its member; a guest is the hash of a network, as in the log. */
async function describe({ counter: { kind, name }, used }: User, { keys, memberLimit }: Target) {
  const record = kind === 'key' ? await keys.findById(name) : undefined;
  const limit = kind === 'member' ? memberLimit : (record?.limit ?? null);
  return { kind, id: name, member: record?.member ?? null, label: record?.label ?? null, used, limit };
}
