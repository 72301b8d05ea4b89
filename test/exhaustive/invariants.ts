import type { Item } from '../../lambda/store/dynamodb/table.ts';
import type { Counter } from './actor.ts';
import type { ClientOutcome } from './request.ts';
import type { Plan, Scenario } from './scenarios.ts';

/** What the invariants are about. */
export interface SeenState {
  readonly item: Item | undefined;
  readonly environments: readonly SeenEnvironment[];
  readonly timePassed: boolean;
}

interface SeenEnvironment {
  readonly actor: { readonly told: readonly ClientOutcome[]; readonly counter?: Counter | undefined } | undefined;
  readonly applied: readonly number[];
  readonly settlements: number;
  readonly faults: number;
}

/** The invariant that this state breaks, if any; `before` is the state before the step. */
export function findFault(scenario: Scenario, before: SeenState, state: SeenState): string | undefined {
  const broken = brokenLimit(scenario, state);
  if (broken !== undefined) return broken;
  for (const [index, environment] of state.environments.entries()) {
    if (environment === before.environments[index]) continue; // unchanged by the step, so already checked
    const known = before.environments[index]?.actor?.told.length ?? 0;
    const news = environment.actor?.told.slice(known) ?? [];
    const fault =
      brokenPromise(environment, scenario.environments[index]) ??
      news.map((told) => findUntruth(scenario, state, scenario.environments[index], environment, told)).find(Boolean);
    if (fault !== undefined) return `${index + 1} ${fault}`;
  }
  return brokenBudget(scenario, before, state);
}

const usedIn = ({ item }: SeenState, { used }: Counter) => Number(item?.[used]?.N ?? 0);

/** The charges of a minute, even if the item no longer has them. */
function countIn({ environments }: SeenState, { minute }: Counter): number {
  const ofMinute = environments.filter(({ actor }) => actor?.counter?.minute === minute);
  return ofMinute.flatMap(({ applied }) => applied).filter((change) => change > 0).length;
}

function brokenLimit(scenario: Scenario, state: SeenState): string | undefined {
  for (const { actor } of state.environments) {
    if (!actor?.counter) continue;
    const [used, { item }] = [usedIn(state, actor.counter), actor.counter];
    if (used < 0) return `${item} is below zero`;
    if (used > scenario.limits.memberLimit) return `${item} has more than its limit`;
    if (countIn(state, actor.counter) > scenario.limits.burstLimit) return `${item} has more than its burst limit`;
  }
  return undefined;
}

const isCharged = ({ applied }: SeenEnvironment) => applied.some((change) => change > 0);

/** The budget's count must be exactly what was spent and what is reserved, and nothing may be granted beyond the budget. */
function brokenBudget({ limits, environments: plans }: Scenario, before: SeenState, state: SeenState) {
  const budget = limits.memberBudget;
  for (const { actor } of budget ? state.environments : []) {
    const { item = '', taken = '' } = actor?.counter ?? {};
    if (taken === '') continue;
    const costs = state.environments.map((one, index) => {
      const { spending, fails } = plans[index] ?? {};
      if (!spending || one.actor?.counter?.taken !== taken || !isCharged(one)) return 0;
      if (one.settlements === 0) return spending.reserved;
      return fails ? 0 : spending.cost;
    });
    const due = costs.reduce((sum, cost) => sum + cost, 0);
    const counted = takenIn(state, taken);
    if (counted !== due) return `${item} has ${counted} of its budget taken, and not ${due}`;
    const grants = (world: SeenState) => world.environments.filter(isCharged).length;
    const isOver = counted > takenIn(before, taken) && grants(state) > grants(before);
    if (isOver && counted > (budget?.amount ?? 0)) return `${item} is granted more than its budget`;
  }
  return undefined;
}

const takenIn = ({ item }: SeenState, taken: string) => Number(item?.[taken]?.N ?? 0);

function brokenPromise({ actor, applied, settlements }: SeenEnvironment, plan: Plan | undefined): string | undefined {
  const charges = applied.filter((change) => change > 0).length;
  const refunds = applied.length - charges;
  const isTold = (...kinds: ClientOutcome['kind'][]) => actor?.told.some(({ kind }) => kinds.includes(kind)) ?? false;
  if (charges > 1) return 'is charged twice';
  if (refunds > 1) return 'is refunded twice';
  if (refunds > (plan?.fails ? charges : 0)) return 'is refunded for nothing';
  if (settlements > 1) return 'is settled twice';
  if (settlements > (plan?.spending ? charges : 0)) return 'is settled for nothing';
  if (settlements === 0 && isTold('settled')) return 'is told of a settlement that was not made';
  if (charges === 0 && isTold('granted')) return 'is free';
  if (charges === 1 && isTold('refused')) return 'is refused, and charged';
  if (refunds === 0 && isTold('refunded')) return 'is told of a refund that was not made';
  const isCertain = actor?.told.some(({ kind, answerLost }) => kind === 'failed' && !answerLost);
  return charges === 1 && isCertain ? 'is charged, and notStarted says so' : undefined;
}

/** What a client is told must be true at that moment. */
function findUntruth(
  scenario: Scenario,
  state: SeenState,
  plan: Plan | undefined,
  { actor, faults }: SeenEnvironment,
  { kind, code }: ClientOutcome,
): string | undefined {
  // With retries, up to two faults never prevent an answer, unless time runs out.
  const excused = faults > 0 && (state.timePassed || scenario.repeats === false);
  if (/lost$/.test(kind)) return excused ? undefined : `has its ${kind} for no reason`;
  if (kind === 'failed') return excused && code === 'service_unavailable' ? undefined : `fails for no reason: ${code}`;
  if (kind !== 'refused' || !actor?.counter) return undefined;
  const { limits } = scenario;
  // If the item is read after the refusal, others may have made room in between.
  const givesRoom = ({ applied, settlements }: SeenEnvironment) => applied.includes(-1) || settlements > 0;
  if (scenario.refusesBare && state.environments.some(givesRoom)) return undefined;
  const hasQuota = usedIn(state, actor.counter) < limits.memberLimit;
  const budgetRoom = (limits.memberBudget?.amount ?? 0) - takenIn(state, actor.counter.taken);
  const hasBudget = plan?.spending === undefined || plan.spending.reserved <= budgetRoom;
  const burstSpent = countIn(state, actor.counter) >= limits.burstLimit;
  const isRight = code === 'rate_limited' ? burstSpent && hasQuota : !hasQuota || !hasBudget;
  return isRight ? undefined : `is refused (${code}) with room left`;
}
