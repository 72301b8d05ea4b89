import type { DatabaseSync } from 'node:sqlite';
import { dayLength } from '../../budget/time.ts';
import {
  type ChargeResult,
  type CountedPeriod,
  type CounterState,
  type CounterWindow,
  type ModelUse,
  markToken,
  type OpenReservation,
  type Settlement,
} from '../counters.ts';

/** The period of a counter that never resets. */
export const lifetime = -1;

export type SqliteCounters = ReturnType<typeof createCounters>;

/** Exact counters. Each function runs inside a transaction. */
export function createCounters(database: DatabaseSync) {
  const { stateOf, usesOf } = createReading(database);
  const tokens = createTokens(database);
  const { reserve, release } = createReservations(database);
  const addRequests = database.prepare(`
    INSERT INTO requests (period, item, count, expiresAt) VALUES (?, ?, 1, ?)
    ON CONFLICT DO UPDATE SET count = count + 1, expiresAt = excluded.expiresAt`);
  const takeRequest = database.prepare(
    'UPDATE requests SET count = count - 1 WHERE period = ? AND item = ? AND count > 0',
  );
  const addBurst = database.prepare(`
    INSERT INTO bursts (minute, item, count) VALUES (?, ?, 1) ON CONFLICT DO UPDATE SET count = count + 1`);
  const takeBack = ({ period = lifetime, item }: CountedPeriod) => takeRequest.run(period, item).changes > 0;

  return {
    charge(window: CounterWindow, token: string): ChargeResult {
      const { item, period = lifetime, minute, budget } = window;
      if (tokens.has(minute, item, token)) {
        return { ...stateOf(window), granted: true, reservation: toReservation(window, token) };
      }
      const found = stateOf(window);
      const reason = refusalOf(window, found);
      if (reason !== undefined) return { ...found, granted: false, reason };
      addRequests.run(period, item, endOf(window));
      addBurst.run(minute, item);
      tokens.add(minute, item, token);
      const reservation = toReservation(window, token);
      if (budget && reservation) reserve(item, reservation, budget.resetAt + dayLength);
      return { ...stateOf(window), granted: true, reservation };
    },

    refund(counted: CountedPeriod, token: string, minute: number): CounterState | undefined {
      const refund = markToken(token, 'r');
      if (tokens.has(minute, counted.item, refund)) return stateOf(counted);
      if (!takeBack(counted)) return undefined;
      tokens.add(minute, counted.item, refund);
      return stateOf(counted);
    },

    settle(counted: CountedPeriod, reservation: OpenReservation, settlement: Settlement): CounterState | undefined {
      if (!release(counted.item, reservation, settlement)) return undefined;
      if (settlement.refunded) takeBack(counted);
      return stateOf(counted);
    },

    read(counted: CountedPeriod): CounterState & { readonly uses: readonly ModelUse[] } {
      return { ...stateOf(counted), uses: usesOf(counted) };
    },
  };
}

function refusalOf({ limit, burst, budget }: CounterWindow, { used, inMinute, taken }: CounterState) {
  if (used >= limit) return 'quota';
  if (budget?.reserve !== undefined && taken > budget.amount - budget.reserve) return 'budget';
  return inMinute >= burst ? 'burst' : undefined;
}

/** When the counter can be deleted: a day after its period, as requests may end in the next one. */
function endOf({ resetAt, expiresAt }: CounterWindow): number | null {
  return (resetAt === undefined ? expiresAt : resetAt + dayLength) ?? null;
}

function toReservation({ minute, budget }: CounterWindow, token: string): OpenReservation | undefined {
  if (budget?.reserve === undefined) return undefined;
  return { name: `${minute}.${token}`, minute, budgetPeriod: budget.period, amount: budget.reserve };
}

/** Reads the counters of one caller. */
export function createReading(database: DatabaseSync) {
  const requests = database.prepare('SELECT count FROM requests WHERE period = ? AND item = ?');
  const bursts = database.prepare('SELECT count FROM bursts WHERE minute = ? AND item = ?');
  const budgets = database.prepare('SELECT taken AS count FROM budgets WHERE item = ? AND period = ?');
  const open = database.prepare(`
    SELECT name, minute, period AS budgetPeriod, amount FROM reservations WHERE item = ?`);
  const uses = database.prepare('SELECT kind, input, output, spent FROM uses WHERE item = ? AND period = ?');
  const countIn = (row: object | undefined) => (row as { readonly count: number } | undefined)?.count ?? 0;

  return {
    stateOf: ({ item, period = lifetime, budget, minute }: CountedPeriod): CounterState => ({
      used: countIn(requests.get(period, item)),
      inMinute: minute === undefined ? 0 : countIn(bursts.get(minute, item)),
      taken: budget ? countIn(budgets.get(item, budget.period)) : 0,
      open: budget ? (open.all(item) as unknown as OpenReservation[]) : [],
    }),
    usesOf: ({ item, budget }: CountedPeriod): ModelUse[] =>
      budget ? (uses.all(item, budget.period) as unknown as ModelUse[]) : [],
  };
}

/** Idempotency tokens of recent writes. */
function createTokens(database: DatabaseSync) {
  const find = database.prepare('SELECT 1 FROM tokens WHERE minute = ? AND item = ? AND token = ?');
  const add = database.prepare('INSERT INTO tokens (minute, item, token) VALUES (?, ?, ?)');
  return {
    has: (minute: number, item: string, token: string) => find.get(minute, item, token) !== undefined,
    add: (minute: number, item: string, token: string) => void add.run(minute, item, token),
  };
}

function createReservations(database: DatabaseSync) {
  const take = database.prepare(`
    INSERT INTO budgets (item, period, taken, expiresAt) VALUES (?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET taken = taken + excluded.taken`);
  const add = database.prepare('INSERT INTO reservations (item, period, name, minute, amount) VALUES (?, ?, ?, ?, ?)');
  const remove = database.prepare('DELETE FROM reservations WHERE item = ? AND period = ? AND name = ?');
  const spend = database.prepare('UPDATE budgets SET taken = taken + ? WHERE item = ? AND period = ?');
  const use = database.prepare(`
    INSERT INTO uses (item, period, kind, input, output, spent) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET
      input = input + excluded.input, output = output + excluded.output, spent = spent + excluded.spent`);

  return {
    reserve(item: string, { budgetPeriod, name, minute, amount }: OpenReservation, expiresAt: number): void {
      take.run(item, budgetPeriod, amount, expiresAt);
      add.run(item, budgetPeriod, name, minute, amount);
    },

    /** Replaces the reservation by the actual cost. Returns false if it was already gone. */
    release(item: string, { budgetPeriod, name, amount }: OpenReservation, { spent, used }: Settlement): boolean {
      if (remove.run(item, budgetPeriod, name).changes === 0) return false;
      spend.run(spent - amount, item, budgetPeriod);
      if (used) use.run(item, budgetPeriod, used.kind, used.input, used.output, spent);
      return true;
    },
  };
}
