import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import type { CallService } from '../../lambda/aws/call-service.ts';
import { minuteOf } from '../../lambda/budget/time.ts';
import type { Item, Update } from '../../lambda/store/dynamodb/table.ts';
import { evaluateUpdate } from '../support/expressions.ts';
import type { Subject } from './actor.ts';
import type { Operation } from './operation-actor.ts';

/** A store whose operations can be tried from any state that it was ever in. A state is a text. */
export interface StoreModel {
  readonly empty: string;
  apply(state: string, operation: Operation): Promise<{ readonly after: string; readonly answer: string | undefined }>;
  /** What is counted for the one caller, as an item of the quota table has it. */
  itemIn(state: string): Item;
}

const tables = ['requests', 'bursts', 'tokens', 'budgets', 'reservations', 'uses'] as const;
type Rows = Readonly<Record<string, SQLInputValue>>[];

/** The real statements, on tables in memory. */
export function createSqliteModel({ createSqliteCounters, migrate }: Subject): StoreModel {
  const database = new DatabaseSync(':memory:');
  migrate(database);
  const { charge, refund, settle } = createSqliteCounters(database);
  let loaded = '';
  const select = tables.map((table) => database.prepare(`SELECT * FROM ${table}`));
  const insert = select.map((statement, index) => {
    const places = statement.columns().map(() => '?');
    return database.prepare(`INSERT INTO ${tables[index]} VALUES (${places.join(', ')})`);
  });
  const dump = (): string => JSON.stringify(select.map((statement) => statement.all()));
  const empty = dump();
  const load = (state: string): void => {
    if (state === loaded) return;
    // With the budgets goes what belongs to them.
    database.exec('DELETE FROM budgets; DELETE FROM requests; DELETE FROM bursts; DELETE FROM tokens');
    for (const [index, rows] of (JSON.parse(state) as Rows[]).entries()) {
      for (const row of rows) insert[index]?.run(...Object.values(row));
    }
    loaded = state;
  };
  const carryOut = ({ name, input, time }: Operation): unknown => {
    if (name === 'charge') return charge(...(input as Parameters<typeof charge>));
    if (name === 'settle') return settle(...(input as Parameters<typeof settle>));
    const [counted, token] = input as [Parameters<typeof refund>[0], string];
    return refund(counted, token, minuteOf(time));
  };
  return {
    empty,
    async apply(state, operation) {
      load(state);
      const answer = JSON.stringify(carryOut(operation));
      loaded = dump();
      return { after: loaded, answer };
    },
    itemIn(state) {
      const [requests = [], , , budgets = []] = JSON.parse(state) as Rows[];
      const used = requests.map(({ period, count }) => [
        `u${period === -1 ? 'lifetime' : period}`,
        { N: String(count) },
      ]);
      const taken = budgets.map(({ period, taken: sum }) => [`b${period}`, { N: String(sum) }]);
      return Object.fromEntries([...used, ...taken]);
    },
  };
}

/** The real writes, each carried out at once: what happens between the tries of one is explored in every-schedule.unit.test.ts. */
export function createDynamoModel({ createCounters, ServiceError }: Subject): StoreModel {
  return {
    empty: '',
    async apply(state, { name, input, time }) {
      let item: Item | undefined = state === '' ? undefined : JSON.parse(state);
      const call: CallService = async <T extends object>(operation: string, update: object) => {
        if (operation === 'GetItem') return { Item: item } as T;
        const { Key } = update as { readonly Key: Item };
        const after = evaluateUpdate(item ?? { pk: Key.pk ?? {} }, update as Update);
        if (!after)
          throw new ServiceError('ConditionalCheckFailedException', '', {
            status: 400,
            details: item ? { Item: item } : {},
          });
        item = after;
        return { Attributes: after } as T;
      };
      const counters = createCounters(call, 'quota', () => time);
      const operate = counters[name] as (...input: readonly unknown[]) => Promise<unknown>;
      const answer = JSON.stringify(await operate(...input));
      return { after: item ? JSON.stringify(item) : '', answer };
    },
    itemIn: (state) => (state === '' ? {} : JSON.parse(state)),
  };
}

export const models = { DynamoDB: createDynamoModel, SQLite: createSqliteModel } as const;
