import type { Case } from './cases.ts';
import type { Answer } from './client.ts';
import { costOf, type Delivered, type Ledger, type Priced, reserveFor } from './ledger.ts';
import type { Account, Rules } from './rules.ts';
import { expectFixed, judgeOutcome } from './verdict.ts';

/** A request of a wave, and everything that was observed about it. */
export interface Outcome {
  readonly one: Case;
  /** The upstreams that were tried, in order. */
  readonly tries: number[];
  /** Disconnects its client. */
  leave: () => void;
  /** Resolves once the client has disconnected and the gateway has noticed. */
  readonly left: PromiseWithResolvers<unknown>;
  /** The usage that the upstream reported in a complete answer. */
  reported: Delivered | undefined;
  answer: Answer | undefined;
}

interface Counted {
  readonly account: Account;
  readonly counts: 'quota' | 'burst alone';
  readonly refusals: string[];
  readonly lostRefunds: number;
  wanting: number;
  passed: number;
  refunded: number;
  doubtful: number;
}

/** How often a wave's log said that a response of the store was lost, by operation. */
export interface Lost {
  readonly refunds: number;
  readonly settlements: number;
  /** Of quota snapshots for the headers. */
  readonly reads: number;
}

/** Checks waves of concurrent requests against the rules and the ledger, one after the other. */
export function judgeWave(rules: Rules, ledger: Ledger) {
  return (wave: readonly Outcome[], time: number, lost: Lost): string[] => {
    const faults: string[] = [];
    const crowds = new Map<string, Counted>();
    const priced: Priced[] = [];
    const startedAt = new Map<string, number>();
    const troubled =
      lost.refunds + lost.settlements + lost.reads > 0 || wave.some(({ answer }) => answer && storeFailed(answer));

    for (const outcome of wave) {
      const found = judgeOne(outcome);
      faults.push(...found.map((fault) => `case ${outcome.one.id}, ${describe(outcome)}: ${fault}`));
    }
    for (const { account } of crowds.values()) startedAt.set(account.item, rules.stateOf(account).used);
    faults.push(...ledger.judge(priced, time, lost.settlements));
    for (const crowd of crowds.values()) faults.push(...rules.judge(crowd.account, time, crowd, crowd.counts));
    for (const outcome of wave) {
      if (outcome.answer) faults.push(...judgeQuotaHeaders(outcome, outcome.answer));
    }
    return faults;

    function judgeOne({ one, answer, tries, reported }: Outcome): readonly string[] {
      const who = rules.identify(one.caller, time);
      const gaveUp = answer !== undefined && storeFailed(answer);
      const isRefused = gaveUp || answer?.status === 429;
      if (isRefused && tries.length > 0) return ['refused, and sent upstream'];
      if (gaveUp && (one.fixed?.open || typeof who === 'string' || one.kind === 'free')) return [];
      if (one.fixed?.open) return expectFixed(answer, one.fixed.status, one.fixed.code);
      if (typeof who === 'string') return expectFixed(answer, 401, who);
      if (one.kind === 'free') return expectFixed(answer, one.fixed?.status ?? 200, one.fixed?.code);
      const crowd = crowdOf(one, who);
      if (isForBudget(answer)) {
        price(one, who, 'refused for its budget');
        const hasPart = !one.fixed && one.kind !== 'tokens' && who.budget;
        return hasPart ? [] : ['refused for a budget that has no part in it'];
      }
      crowd.wanting += 1;
      if (gaveUp) {
        crowd.doubtful += 1;
        price(one, who, 'lost');
        return [];
      }
      if (isRefused) {
        crowd.refusals.push(String(answer.headers['x-svc-error']));
        return [];
      }
      crowd.passed += 1;
      if (one.fixed) return expectFixed(answer, one.fixed.status, one.fixed.code);
      const { faults, refunded, delivered } = judgeOutcome(one, answer, tries.at(-1), who.budget !== undefined);
      if (refunded) crowd.refunded += 1;
      price(one, who, 'passed', delivered, refunded ? undefined : reported);
      return faults;
    }

    function price(one: Case, who: Account, fate: Priced['fate'], delivered?: Delivered, reported?: Delivered) {
      if (one.fixed || one.kind !== 'inference') return;
      const { body = '' } = one.sending;
      const [reserve, cost] = [reserveFor(body, one.outputLimit), costOf(delivered, body)];
      priced.push({ fate, budget: who.budget, item: who.item, reserve, cost, reported: costOf(reported, body) });
    }

    function crowdOf({ kind }: Case, who: Account): Counted {
      const account = kind === 'tokens' ? rules.tokenAccount(who) : who;
      const counts = kind === 'tokens' ? 'burst alone' : 'quota';
      const known = crowds.get(account.item);
      const crowd = known ?? {
        ...{ account, counts, lostRefunds: lost.refunds, refusals: [] },
        ...{ wanting: 0, passed: 0, refunded: 0, doubtful: 0 },
      };
      crowds.set(account.item, crowd);
      return crowd;
    }

    /**
     * Checks the quota headers: exactly if the request was alone, including an earlier refund; otherwise, some order of the
     * requests must explain them.
     */
    function judgeQuotaHeaders({ one }: Outcome, answer: Answer): string[] {
      const { status, headers } = answer;
      const who = one.fixed?.open ? undefined : rules.identify(one.caller, time);
      const account = typeof who === 'object' ? who : rules.guestAccount(one.caller.address, time);
      const passed = crowds.get(account.item)?.passed ?? 0;
      const { used, doubt } = rules.stateOf(account);
      const before = startedAt.get(account.item) ?? used;
      const alone = wave.length === 1;
      const [least, most] = alone && status !== 200 ? [used, used] : [alone ? used : before, before + passed];
      const [limit, remaining] = [Number(headers['x-svc-limit']), Number(headers['x-svc-remaining'])];
      const resets = headers['x-svc-reset'] !== undefined;
      const left = (count: number) => Math.max(0, account.limit - count);
      const fits = limit === account.limit && remaining >= left(most + doubt) && remaining <= left(least);
      if (fits && resets === account.daily) return [];
      // If the quota can't be read, the header says 0.
      if (troubled && remaining === 0) return [];
      return [
        `case ${one.id}: told ${remaining} of ${limit} are left, reset: ${resets}; ${least} to ${most} of ${account.limit} are used in ${account.item}`,
      ];
    }
  };
}

export const isForBudget = (answer: Answer | undefined): boolean =>
  answer?.status === 429 && answer.text.includes('This request may cost up to');

/** Whether the request failed because the store was broken or too slow. */
function storeFailed({ status, text }: Answer): boolean {
  return status === 503 && text.includes('its own store');
}

function describe({ one, tries }: Outcome): string {
  const plan = one.plan.map(({ name }) => name).join(' / ');
  return `${one.sending.method} ${one.sending.path} (${plan}; asked ${tries.join()})`;
}
