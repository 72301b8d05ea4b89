/*
 * Money, implemented a second time from what the gateway promises, without its code: what a request may cost, what its answer did
 * cost, and what is left of each budget. Amounts are in millionths.
 */

export interface Budget {
  readonly amount: number;
  readonly window: 'day' | 'week' | 'month';
}

/** What an answer delivered that nobody was refunded for: the upstream's token counts, and bytes of text. */
export interface Delivered {
  readonly input?: number;
  readonly output?: number;
  readonly text?: number;
  /** Whether it also ended. */
  readonly isWhole: boolean;
}

/** A request that may cost something. */
export interface Priced {
  readonly budget: Budget | undefined;
  readonly item: string;
  readonly reserve: number;
  readonly cost: number;
  /** The cost by what its upstream reported; 0 if it reported nothing. */
  readonly reported: number;
  /** `lost`: the store did not say whether it was charged. */
  readonly fate: 'passed' | 'refused for its budget' | 'refused' | 'lost';
}

/** Chosen so that no sum is a round number. */
export const PRICES = JSON.stringify({
  svc: { input: 2.500001, output: 10.000003, cacheRead: 0.25, cacheWrite: 3.1 },
  'svc-vision': { input: 1, output: 1 },
});
const price = { input: 2_500_001n, output: 10_000_003n, dearestInput: 3_100_000n };
const reservedOutput = 4_096;

const roundedUp = (millionths: bigint): number => Number((millionths + 999_999n) / 1_000_000n);
const tokensIn = (bytes: number): number => Math.ceil(bytes / 3);

/** The reservation for a body whose answer may have this many tokens. */
export function reserveFor(body: string, outputLimit = reservedOutput): number {
  const input = BigInt(tokensIn(Buffer.byteLength(body))) * price.dearestInput;
  return roundedUp(input) + roundedUp(BigInt(outputLimit) * price.output);
}

/** Counts that an answer lacks are estimated. */
export function costOf(answer: Delivered | undefined, body: string): number {
  if (!answer) return 0;
  const { input = 0, output = 0, text = 0, isWhole } = answer;
  // A zero is not a count, and before the end a count may be too small.
  const part = (count: number, bytes: number) => (isWhole && count > 0 ? count : Math.max(count, tokensIn(bytes)));
  const [read, written] = [part(input, Buffer.byteLength(body)), part(output, text)];
  return roundedUp(BigInt(read) * price.input + BigInt(written) * price.output);
}

const day = 86_400_000;
const leastLength = { day: 1, week: 7, month: 28 };

/** The attribute that counts a budget's period, such as `bm682`. */
function attributeOf({ window }: Budget, time: number): string {
  const date = new Date(time);
  if (window === 'month') return `bm${(date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth()}`;
  // The first of January 1970 was a Thursday.
  return window === 'day' ? `bd${Math.floor(time / day)}` : `bw${Math.floor((time / day + 3) / 7)}`;
}

interface Account {
  spent: number;
  /** How much more may stand because a response of the store was lost. */
  doubt: number;
  /** Until when the table must retain it. */
  keptUntil: number;
}

export function createLedger() {
  const accounts = new Map<string, Account>();
  const days = new Map<number, number>();
  const bill = { reported: 0, unreported: 0 };

  const accountOf = (item: string, budget: Budget, time: number): Account => {
    const name = `${item} ${attributeOf(budget, time)}`;
    const account = accounts.get(name) ?? { spent: 0, doubt: 0, keptUntil: 0 };
    account.keptUntil = time + leastLength[budget.window] * day;
    accounts.set(name, account);
    return account;
  };

  return {
    /** Checks concurrent requests against the budgets, and books what they cost. Returns the faults. */
    judge(requests: readonly Priced[], time: number, lostSettlements: number): string[] {
      const faults: string[] = [];
      const booked: (() => void)[] = [];
      for (const one of requests) {
        if (one.fate === 'passed') days.set(Math.floor(time / day), (days.get(Math.floor(time / day)) ?? 0) + one.cost);
        if (one.reported > 0) bill.reported += one.reported;
        else if (one.fate === 'passed') bill.unreported += one.cost;
        if (!one.budget) continue;
        const { item, budget, fate, reserve, cost } = one;
        const account = accountOf(item, budget, time);
        const left = budget.amount - account.spent;
        const others = requests.filter((other) => other !== one && other.item === item && other.fate !== 'refused');
        const taken = others.reduce((sum, other) => sum + mostTaken(other), account.doubt);
        if (fate === 'passed' && reserve > left) faults.push(`${item}: ${reserve} was granted with ${left} left`);
        if (fate === 'refused for its budget' && reserve <= left - taken)
          faults.push(`${item}: ${reserve} was refused with ${left} left and at most ${taken} taken`);
        booked.push(() => {
          if (fate === 'lost' || lostSettlements > 0) account.doubt += mostTaken(one);
          else if (fate === 'passed') account.spent += cost;
        });
      }
      for (const book of booked) book();
      return faults;
    },

    /** What the table must contain, by `item attribute`. */
    accounts: (): readonly (readonly [string, Readonly<Account>])[] => [...accounts],
    /** The cost of answers whose upstreams reported it, and of the others. */
    bill: (): Readonly<typeof bill> => bill,
    /** The spending of all callers, by day. */
    days: (): ReadonlyMap<number, number> => days,
  };
}

export type Ledger = ReturnType<typeof createLedger>;

/** The most that a request may have taken from its budget while others were judged. */
function mostTaken({ fate, reserve, cost }: Priced): number {
  if (fate === 'passed') return Math.max(reserve, cost);
  return fate === 'lost' ? reserve : 0;
}
