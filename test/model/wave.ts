import type { Case } from './cases.ts';
import type { Answer } from './client.ts';
import type { Account, Rules } from './rules.ts';
import { expectFixed, judgeExchange, type Try } from './verdict.ts';

/** A request of a wave, and everything that was observed about it. */
export interface Outcome {
  readonly one: Case;
  readonly tries: Try[];
  /** Disconnects its client. */
  leave: () => void;
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

/** How long a key may rest: as long as the upstream's 429 asks for, else a minute. */
const restTime = 60_000;

/** Checks waves of simultaneous requests against the rules, one after the other. */
export function judgeWave(rules: Rules) {
  const restsUntil = new Map<number, number>();

  return (wave: readonly Outcome[], time: number, lostRefunds: number): string[] => {
    for (const { one, tries } of wave) {
      for (const { upstream } of tries) {
        if (one.plan[upstream]?.rests) restsUntil.set(upstream, time + restTime);
      }
    }
    const mayRest = (upstream: number) => (restsUntil.get(upstream) ?? 0) > time;
    const faults: string[] = [];
    const crowds = new Map<string, Counted>();
    const startedAt = new Map<string, number>();
    const troubled = lostRefunds > 0 || wave.some(({ answer }) => answer && storeFailed(answer));

    for (const outcome of wave) {
      const { one, answer, tries } = outcome;
      const found = judgeOne(outcome);
      faults.push(...found.map((fault) => `case ${one.id}, ${describe(outcome)}: ${fault}`));
      function judgeOne({ one }: Outcome): string[] {
        const who = rules.identify(one.caller, time);
        const gaveUp = answer !== undefined && storeFailed(answer);
        if (gaveUp && tries.length > 0) return ['no charge, and sent upstream'];
        if (gaveUp && (one.fixed?.open || typeof who === 'string' || one.kind === 'free')) return [];
        if (one.fixed?.open) return expectFixed(answer, one.fixed.status, one.fixed.code);
        if (typeof who === 'string') return expectFixed(answer, 401, who);
        if (one.kind === 'free') return expectFixed(answer, one.fixed?.status ?? 200, one.fixed?.code);
        const crowd = crowdOf(one, who);
        crowd.wanting += 1;
        if (gaveUp) crowd.doubtful += 1;
        if (gaveUp) return [];
        if (answer?.status === 429) {
          crowd.refusals.push(String(answer.headers['x-svc-error']));
          return tries.length > 0 ? ['refused, and sent upstream'] : [];
        }
        crowd.passed += 1;
        if (one.fixed) return expectFixed(answer, one.fixed.status, one.fixed.code);
        const verdict = judgeExchange(one, answer, tries, mayRest);
        if (verdict.refunded) crowd.refunded += 1;
        return [...verdict.faults];
      }
    }
    for (const { account } of crowds.values()) startedAt.set(account.item, rules.standing(account).used);
    for (const crowd of crowds.values()) faults.push(...rules.judge(crowd.account, time, crowd, crowd.counts));
    for (const outcome of wave) {
      if (outcome.answer) faults.push(...judgeFigures(outcome, outcome.answer));
    }
    return faults;

    function crowdOf({ kind }: Case, who: Account): Counted {
      const account = kind === 'tokens' ? rules.tokenAccount(who) : who;
      const counts = kind === 'tokens' ? 'burst alone' : 'quota';
      const known = crowds.get(account.item);
      const crowd = known ?? {
        ...{ account, counts, lostRefunds, refusals: [] },
        ...{ wanting: 0, passed: 0, refunded: 0, doubtful: 0 },
      };
      crowds.set(account.item, crowd);
      return crowd;
    }

    /** Checks the quota headers: exactly if the request was alone, including an earlier refund; else some order must explain them. */
    function judgeFigures({ one }: Outcome, { status, headers }: Answer): string[] {
      const who = one.fixed?.open ? undefined : rules.identify(one.caller, time);
      const account = typeof who === 'object' ? who : rules.guestAccount(one.caller.address, time);
      const passed = crowds.get(account.item)?.passed ?? 0;
      const { used, doubt } = rules.standing(account);
      const before = startedAt.get(account.item) ?? used;
      const alone = wave.length === 1;
      const [least, most] = alone && status !== 200 ? [used, used] : [alone ? used : before, before + passed];
      const [limit, remaining] = [Number(headers['x-svc-limit']), Number(headers['x-svc-remaining'])];
      const resets = headers['x-svc-reset'] !== undefined;
      const left = (count: number) => Math.max(0, account.limit - count);
      const fits = limit === account.limit && remaining >= left(most + doubt) && remaining <= left(least);
      if (fits && resets === account.daily) return [];
      // If the figures can't be read, the header says 0.
      if (troubled && remaining === 0) return [];
      return [
        `case ${one.id}: told ${remaining} of ${limit} are left, reset: ${resets}; ${least} to ${most} of ${account.limit} are used in ${account.item}`,
      ];
    }
  };
}

/** Whether the request failed for want of the store, which was broken or too slow. */
function storeFailed({ status, text }: Answer): boolean {
  return status === 503 && text.includes('its own store');
}

function describe({ one, tries }: Outcome): string {
  const plan = one.plan.map(({ name }) => name).join(' / ');
  return `${one.sending.method} ${one.sending.path} (${plan}; asked ${tries.map(({ upstream }) => upstream).join()})`;
}
