import { ServiceError } from '../aws/service-error.ts';
import type { Item, Table, Update, Value } from './table.ts';
import { outage } from './time-limit.ts';

/*
 * Writes to a counter's item that are applied at most once, however often they are sent, whatever answers are lost, however
 * late a copy arrives, and whatever the clocks say.
 *
 *   c<S>, r<S>  the tokens of the charges and of the refunds applied in slice S: one second, by the writer's clock
 *   x<S>        the tokens of writes of slice S that were withdrawn
 *   f0 … f5     the fence: f<i> is the latest slice S with S mod 6 = i in which a write was applied
 *
 * - A repeat carries the slice and the token of its write. If it finds the token, the write has been applied, and the repeat
 *   changes nothing.
 * - A write of slice S is applied only while no write of slice S+6 or later has been, and only those drop the tokens of S.
 *   So no token is forgotten while a copy of its write could still be applied. The fence takes six numbers because an update
 *   can't compute a maximum: by this very rule each of the six only ever rises.
 * - Clocks affect only the cost. Tokens outlive all attempts at a write, which begin within two seconds, by three seconds to
 *   allow for clocks that differ. A clock that is further behind finds the fence closed, and sends its write once more with
 *   the slice of the others. A repeat that finds the tokens of its slice dropped can't tell what happened: its answer is lost.
 * - A refusal is final only if no copy of the write is still on its way. If one may be, the write is withdrawn, by putting its
 *   token where that copy will find it, and sent again in the next slice.
 * - A write drops the slices of the last `dropped` seconds that the fence has closed. A longer pause leaves some behind, which
 *   anyone who sees them may remove: `droppable` names them.
 */

export const sliceLength = 1000;
export const kept = 6;
const dropped = 12;
const rounds = 3;

/** A write, without what makes it apply only once. */
export interface Change {
  /** Which tokens it joins: those of the charges or of the refunds. */
  readonly kind: 'c' | 'r';
  readonly token: string;
  readonly add: string;
  readonly set?: readonly string[];
  readonly remove?: readonly string[];
  readonly conditions: readonly string[];
  readonly names?: Readonly<Record<string, string>>;
  readonly values: Item;
}

export interface Written {
  /** Whether the write was applied; if not, it never will be. */
  readonly applied: boolean;
  /** The item after it, or the one that refused it. */
  readonly found: Item | undefined;
}

/** Rejects if nobody knows what became of the write. */
export type WriteOnce = (item: string, change: Change) => Promise<Written>;

export function createWriteOnce({ load, update }: Table, now: () => number): WriteOnce {
  const send = async (item: string, createUpdate: () => Update) => {
    try {
      const returned = { ReturnValues: 'ALL_NEW', ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } as const;
      return { applied: true, found: await update(item, () => ({ ...returned, ...createUpdate() })), inDoubt: false };
    } catch (error) {
      if (!(error instanceof ServiceError && error.name === 'ConditionalCheckFailedException')) throw error;
      const { inDoubt } = error;
      // Not every engine returns the item.
      const found =
        (error.details.Item as Item | undefined) ?? (await load(item).catch((cause) => fail(cause, inDoubt)));
      return { applied: false, found, inDoubt };
    }
  };

  /** Keeps copies of a write that are still on their way from being applied. Tells whether one has been. */
  const withdraw = async (item: string, { kind, token }: Change, slice: number): Promise<Written> => {
    const [tokens, withdrawn] = [`${kind}${slice}`, `x${slice}`];
    const { applied, found } = await send(item, () => ({
      UpdateExpression: `ADD ${tokens} :tokens, ${withdrawn} :tokens`,
      ConditionExpression: `NOT contains(${tokens}, :token) AND ${fenceIsOpen}`,
      ExpressionAttributeValues: { ...tokenValues(token), ':closed': number(slice + kept) },
    }));
    if (applied || has(found, withdrawn, token)) return { applied: false, found };
    if (has(found, tokens, token)) return { applied: true, found };
    if (found?.[tokens]) return { applied: false, found };
    throw new Error(forgotten);
  };

  return async (item, change) => {
    let slice = 0;
    for (let round = 1; round <= rounds; round += 1) {
      const least = slice;
      const { applied, found, inDoubt } = await send(item, () => {
        slice = Math.max(least, Math.floor(now() / sliceLength));
        return toUpdate(change, slice);
      });
      const tokens = `${change.kind}${slice}`;
      if (applied || has(found, tokens, change.token)) return { applied: true, found };
      const latest = latestSlice(found);
      if (latest >= slice + kept) {
        if (inDoubt && !found?.[tokens]) return fail(new Error(forgotten), true);
        slice = latest;
      } else {
        // A write refused by a missing item would be refused by any item.
        if (!inDoubt || !found) return { applied: false, found };
        const withdrawn = await withdraw(item, change, slice).catch((error) => fail(error, true));
        if (withdrawn.applied) return withdrawn;
        slice += 1;
      }
      // It has not been applied in its slice, and never will be: try another slice.
    }
    return fail(new Error('the others are always ahead'), false);
  };
}

/** The names of the attributes that no write needs any more. */
export function droppable(item: Item): string[] {
  const oldest = latestSlice(item) - kept;
  return Object.keys(item).filter((name) => /^[crx]\d/.test(name) && Number(name.slice(1)) <= oldest);
}

const remainders = Array.from({ length: kept }, (_, remainder) => remainder);
const fenceIsOpen = remainders.map((remainder) => `NOT f${remainder} >= :closed`).join(' AND ');

function toUpdate(
  { kind, token, add, set = [], remove = [], conditions, names, values }: Change,
  slice: number,
): Update {
  const tokens = `${kind}${slice}`;
  const old = Array.from({ length: dropped }, (_, index) => `${kind}${slice - kept - index}`);
  return {
    UpdateExpression: [
      `ADD ${add}, ${tokens} :tokens`,
      `SET ${[`f${slice % kept} = :slice`, ...set].join(', ')}`,
      `REMOVE ${[...old, ...remove].join(', ')}`,
    ].join(' '),
    ConditionExpression: [...conditions, `NOT contains(${tokens}, :token)`, fenceIsOpen].join(' AND '),
    ...(names && { ExpressionAttributeNames: names }),
    ExpressionAttributeValues: {
      ...values,
      ...tokenValues(token),
      ':slice': number(slice),
      ':closed': number(slice + kept),
    },
  };
}

function tokenValues(token: string): Item {
  return { ':token': { B: token }, ':tokens': { BS: [token] } };
}

function has(item: Item | undefined, tokens: string, token: string): boolean {
  return item?.[tokens]?.BS?.includes(token) ?? false;
}

/** Zero where nothing has been applied. */
function latestSlice(item: Item | undefined): number {
  return Math.max(0, ...remainders.map((remainder) => Number(item?.[`f${remainder}`]?.N ?? 0)));
}

function number(value: number): Value {
  return { N: String(value) };
}

const forgotten = 'the tokens of its slice are dropped';

function fail(cause: unknown, answerLost: boolean): never {
  throw outage(cause, answerLost);
}
