import type { DatabaseSync } from 'node:sqlite';
import { codeNameOf, isLocked, isTooLarge } from './database.ts';
import { type Operations, reading } from './operations.ts';

/** A request for one operation. */
export interface Order {
  readonly id: number;
  readonly room: string;
  readonly name: string;
  readonly input: readonly unknown[];
}

/** An order with its deadline. */
export interface Waiting extends Order {
  readonly until: number;
}

/** `refused`: not carried out, for certain. `in doubt`: it may have been. `too large`: a sum would exceed 2^53. */
export interface Fault {
  readonly kind: 'refused' | 'in doubt' | 'too large' | 'defect';
  readonly message: string;
  /** SQLite's name for it. */
  readonly code?: string | undefined;
}

export type Reply = { readonly id: number } & ({ readonly value: unknown } | { readonly fault: Fault });

/** The most writes in one transaction. */
const mostWrites = 500;

/**
 * Carries out a batch of orders. All writes share one transaction, so each is answered after the commit. If another process holds the
 * write lock, the writes are returned in `left`, to be tried again until their deadlines.
 */
export function createBatches(database: DatabaseSync, operations: Operations, now: () => number) {
  const prepare = (sql: string) => {
    const statement = database.prepare(sql);
    return () => void statement.run();
  };
  const [begin, commit, rollback] = ['BEGIN IMMEDIATE', 'COMMIT', 'ROLLBACK'].map(prepare) as [Do, Do, Do];
  const [mark, keep, undo] = ['SAVEPOINT one', 'RELEASE one', 'ROLLBACK TO one'].map(prepare) as [Do, Do, Do];

  const rooms = operations as unknown as Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  const carryOut = ({ id, room, name, input }: Order): Reply => ({ id, value: rooms[room]?.[name]?.(...input) });
  const carryOutAlone = (order: Order): Reply => {
    mark();
    try {
      const reply = carryOut(order);
      keep();
      return reply;
    } catch (error) {
      // SQLite rolls the whole transaction back when the disk is full or fails.
      if (!database.isTransaction) throw error;
      undo();
      keep();
      return { id: order.id, fault: toFault(error) };
    }
  };
  const read = (order: Order): Reply => {
    try {
      return carryOut(order);
    } catch (error) {
      return { id: order.id, fault: toFault(error) };
    }
  };

  /** Returns undefined if another process holds the write lock. */
  const write = (orders: readonly Order[]): Reply[] | undefined => {
    try {
      begin();
    } catch (error) {
      return isLocked(error) ? undefined : refuse(orders, toFault(error));
    }
    let isCommitting = false;
    try {
      const replies = orders.map(carryOutAlone);
      isCommitting = true;
      commit();
      return replies;
    } catch (error) {
      const { message, code } = toFault(error);
      if (database.isTransaction) rollback();
      else if (isCommitting) return refuse(orders, { kind: 'in doubt', message, code });
      return refuse(orders, { kind: 'refused', message, code });
    }
  };

  return (orders: readonly Waiting[]): { readonly replies: readonly Reply[]; readonly left: Waiting[] } => {
    const time = now();
    const late = orders.filter(({ until }) => until <= time);
    const inTime = orders.filter(({ until }) => until > time);
    const toRead = inTime.filter(isReading);
    const toWrite = inTime.filter((order) => !isReading(order));
    const batch = toWrite.slice(0, mostWrites);
    const written = batch.length > 0 ? write(batch) : [];
    return {
      replies: [...refuse(late, tooSlow), ...toRead.map(read), ...(written ?? [])],
      left: written ? toWrite.slice(mostWrites) : toWrite,
    };
  };
}

type Do = () => void;
type Operation = (...input: readonly unknown[]) => unknown;

const isReading = ({ room, name }: Order): boolean => reading.has(`${room}.${name}`);

const tooSlow: Fault = {
  kind: 'refused',
  message: 'another process holds the lock of the store for too long',
  code: 'SQLITE_BUSY',
};

const refuse = (orders: readonly Order[], fault: Fault): Reply[] => orders.map(({ id }) => ({ id, fault }));

function toFault(error: unknown): Fault {
  const message = error instanceof Error ? error.message : String(error);
  if (isTooLarge(error)) return { kind: 'too large', message };
  const code = codeNameOf(error);
  return { kind: code === undefined ? 'defect' : 'refused', message, code };
}
