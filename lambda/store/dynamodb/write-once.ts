import { isConditionFailure } from '../../aws/repeat.ts';
import { minuteOf } from '../../budget/time.ts';
import { markToken, nextToken } from '../counters.ts';
import { outage } from '../errors.ts';
import type { Item, Table, Update } from './table.ts';

/** A write, before the token is added that makes it idempotent. */
interface Change {
  readonly minute: number;
  readonly token: string;
  readonly add: string;
  readonly set?: readonly string[];
  readonly remove?: readonly string[];
  readonly condition: string;
  readonly names?: Readonly<Record<string, string>>;
  readonly values: Item;
}

interface Written {
  /** Whether the write was applied. If not, it never will be. */
  readonly applied: boolean;
  /** The item after the write, or the one that failed its condition. */
  readonly found: Item | undefined;
}

/**
 * Applies a write at most once, however often it is sent and whichever responses are lost: docs/decisions/4-one-item-counts.md.
 * Rejects if the outcome is unknown.
 */
type WriteOnce = (item: string, change: Change) => Promise<Written>;

/** The attribute with the idempotency tokens of a minute's writes. */
export const tokensOf = (minute: number): string => `w${minute}`;

/** How often a write is retried with a new token, if concurrent writes keep winning. */
const rounds = 3;

export function createWriteOnce({ update, loadRefusing }: Table, now: () => number): WriteOnce {
  const send = async (item: string, input: Update) => {
    const returned = { ReturnValues: 'ALL_NEW', ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } as const;
    try {
      return { applied: true, found: await update(item, { ...returned, ...input }), inDoubt: false };
    } catch (error) {
      if (!isConditionFailure(error)) throw error;
      const { inDoubt } = error;
      return { applied: false, found: await loadRefusing(item, error).catch((cause) => fail(cause, inDoubt)), inDoubt };
    }
  };

  /** After a refusal, leaves the token in the item, so that earlier attempts still in flight can't be applied. Says if one has been. */
  const leaveToken = async (item: string, minute: number, token: string): Promise<Written> => {
    if (minuteOf(now()) > minute + 1) throw new Error('its tokens may have been removed');
    const [tokens, givenUp] = [tokensOf(minute), markToken(token, 'x')];
    const { applied, found } = await send(item, {
      UpdateExpression: `ADD ${tokens} :tokens`,
      ConditionExpression: `NOT contains(${tokens}, :token)`,
      ExpressionAttributeValues: { ':token': { B: token }, ':tokens': { BS: [token, givenUp] } },
    });
    if (!applied && !has(found, tokens, token)) throw new Error('its tokens have been removed');
    // A retry of this very write finds the token that it left itself.
    return { applied: !applied && !has(found, tokens, givenUp), found };
  };

  return async (item, change) => {
    let { token } = change;
    for (let round = 1; round <= rounds; round += 1) {
      const { applied, found, inDoubt } = await send(item, toUpdate(change, token));
      if (applied || has(found, tokensOf(change.minute), token)) return { applied: true, found };
      // If the write was refused although there is no item, no earlier attempt was applied, and none ever would be.
      if (!inDoubt || !found) return { applied: false, found };
      const left = await leaveToken(item, change.minute, token).catch((error) => fail(error, true));
      if (left.applied) return left;
      // There may be room by now, and the old token can't be applied any more.
      token = nextToken(token);
    }
    return fail(new Error('concurrent writes always win'), false);
  };
}

function toUpdate({ minute, add, set = [], remove = [], condition, names, values }: Change, token: string): Update {
  const tokens = tokensOf(minute);
  const clauses = [
    `ADD ${add}, ${tokens} :tokens`,
    set[0] && `SET ${set.join(', ')}`,
    remove[0] && `REMOVE ${remove.join(', ')}`,
  ];
  return {
    UpdateExpression: clauses.filter(Boolean).join(' '),
    ConditionExpression: `${condition} AND NOT contains(${tokens}, :token)`,
    ...(names && { ExpressionAttributeNames: names }),
    ExpressionAttributeValues: { ...values, ':token': { B: token }, ':tokens': { BS: [token] } },
  };
}

function has(item: Item | undefined, tokens: string, token: string): boolean {
  return item?.[tokens]?.BS?.includes(token) ?? false;
}

function fail(cause: unknown, answerLost: boolean): never {
  throw outage(cause, answerLost);
}
