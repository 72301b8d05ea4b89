import { type BudgetWindow, memberBudgetOf } from '../budget/budget-window.ts';
import { type Counters, createToken, type GlobalCounters } from '../store/counters.ts';
import { createDeploymentLimit, createSpendLimit, type DeploymentLimit, type SpendLimit } from './deployment-limits.ts';
import { createQuota, type Quota, type QuotaDependencies } from './quota.ts';
import type { LimitName } from './refusal.ts';

interface Dependencies {
  readonly counters: Counters;
  readonly globalCounters: GlobalCounters;
  readonly quota: {
    readonly guestLimit: number;
    readonly guestWindow: 'lifetime' | 'daily';
    readonly memberLimit: number;
    readonly burstLimit: number;
    readonly dailyLimit: number | undefined;
    readonly guestDailyLimit: number | undefined;
    readonly refundRefusals: boolean;
  };
  readonly budget: {
    readonly memberBudget: number | undefined;
    readonly memberBudgetWindow: BudgetWindow;
    readonly spendLimit: number | undefined;
    readonly currency: string;
  };
  /** The web app where people get keys by themselves, if there is one. */
  readonly keysUrl: string | undefined;
  /** Whether people can link their networks there too. */
  readonly linksNetworks: boolean;
  readonly requestTimeout: number;
  readonly log: {
    readonly answerLost: QuotaDependencies['onLost'];
    readonly budgetNearlySpent: QuotaDependencies['onNearlySpent'];
    readonly reservationsLost: QuotaDependencies['onAbandoned'];
    readonly countLost: (cause: unknown, limit: LimitName | 'spend_limit') => void;
  };
  readonly now: () => number;
}

/** All limits: those of each caller, and those of the whole deployment. */
export interface AllLimits {
  readonly quota: Quota;
  /** Undefined, like `spendLimit`, if the operator has set none. */
  readonly deploymentLimit: DeploymentLimit | undefined;
  readonly spendLimit: SpendLimit | undefined;
}

export function createLimits(dependencies: Dependencies): AllLimits {
  const { counters, globalCounters, budget, keysUrl, linksNetworks, requestTimeout, log, now } = dependencies;
  const { spendLimit, currency } = budget;
  const { guestLimit, guestWindow, memberLimit, burstLimit, dailyLimit, guestDailyLimit, refundRefusals } =
    dependencies.quota;
  return {
    quota: createQuota({
      counters,
      limits: { guestLimit, guestWindow, memberLimit, burstLimit, memberBudget: memberBudgetOf(budget) },
      appUrl: keysUrl,
      linksNetworks,
      refundRefusals,
      currency,
      requestTimeout,
      now,
      createToken,
      onLost: log.answerLost,
      onNearlySpent: log.budgetNearlySpent,
      onAbandoned: log.reservationsLost,
    }),
    deploymentLimit:
      (dailyLimit ?? guestDailyLimit) === undefined
        ? undefined
        : createDeploymentLimit({
            dailyLimit,
            guestDailyLimit,
            appUrl: keysUrl,
            linksNetworks,
            now,
            globalCounters,
            onLost: log.countLost,
          }),
    spendLimit:
      spendLimit === undefined
        ? undefined
        : createSpendLimit({ globalCounters, now, spendLimit, onLost: (error) => log.countLost(error, 'spend_limit') }),
  };
}
