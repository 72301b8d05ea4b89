import type { Counters } from '../../lambda/store/counters.ts';
import { type Plan, prices, type Scenario } from './scenarios.ts';

/** The first bytes of each environment's tokens, in base64. */
export const tokenPrefixes = ['QUFB', 'QkJC', 'Q0ND'];

/** A request's outcome, as its client sees it. */
export interface ClientOutcome {
  readonly kind: 'granted' | 'refunded' | 'settled' | 'refused' | 'failed' | 'refund lost' | 'settlement lost';
  readonly code?: string;
  readonly answerLost?: boolean;
}

interface Surroundings {
  readonly subject: Pick<typeof import('./subject.ts'), 'createQuota' | 'GatewayError' | 'QuotaRefusal' | 'costOf'>;
  readonly scenario: Scenario;
  /** Which of the scenario's environments it is. */
  readonly index: number;
  readonly counters: Counters;
  readonly now: () => number;
  /** Waits if the environment is to be frozen here. */
  readonly sleep: () => Promise<void>;
}

/** The one request of an environment. `told` fills with what its client sees. */
export function createRequest({ subject, scenario, index, counters, now, sleep }: Surroundings) {
  const { identity, fails, spending } = scenario.environments[index] as Plan;
  const told: ClientOutcome[] = [];
  let tokens = 0;
  const quota = subject.createQuota({
    counters,
    limits: scenario.limits,
    now,
    requestTimeout: 0,
    createToken: () => `${tokenPrefixes[index]}${Buffer.from([tokens++, 0, 0]).toString('base64')}`,
    onLost: (_, lost) => {
      if (lost === 'refund' || lost === 'settlement') told.push({ kind: `${lost} lost` });
    },
    onNearlySpent() {},
    onAbandoned() {},
  });
  const run = async () => {
    const cost = spending && { total: spending.reserved, advise: () => undefined };
    const charge = await quota.charge(identity, 'req_1', cost);
    told.push({ kind: 'granted' });
    if (!fails && !spending) return;
    await sleep(); // The upstream may take long.
    const used = { kind: 'text', input: 0, output: spending?.tokens ?? 0 } as const;
    const spent = subject.costOf(prices, used);
    const snapshot = await (fails ? charge.refund() : charge.settle(spent, used));
    if (snapshot) told.push({ kind: fails ? 'refunded' : 'settled' });
    await charge.settle(spent); // Settling twice has no effect,
    await charge.refund(); // nor does a refund after it.
  };
  const tell = (error: unknown) => {
    const [code, reason] = error instanceof subject.GatewayError ? [error.code, error.reason] : [String(error)];
    const kind = error instanceof subject.QuotaRefusal ? 'refused' : 'failed';
    told.push({ kind, code, answerLost: reason === 'answer_lost' });
  };
  return { told, begin: () => void run().catch(tell) };
}
