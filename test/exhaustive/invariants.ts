import type { Told } from './actor.ts';
import { failingOf, type Plan, requestsOf, type Scenario } from './scenarios.ts';
import type { EnvironmentState, WorldState } from './state.ts';

/** The promise that this state breaks, if any; `before` is the state before the step. */
export function findFault(scenario: Scenario, before: WorldState, state: WorldState): string | undefined {
  const broken = brokenLimit(scenario, state);
  if (broken !== undefined) return broken;
  for (const [index, environment] of state.environments.entries()) {
    if (environment === before.environments[index]) continue; // unchanged by the step, so already checked
    const known = before.environments[index]?.actor?.told.length ?? 0;
    const news = environment.actor?.told.slice(known) ?? [];
    const fault =
      brokenPromise(environment, scenario.environments[index]) ??
      news.map((told, place) => findUntruth(scenario, state, environment, told, news.slice(place + 1))).find(Boolean);
    if (fault !== undefined) return `${index + 1} ${fault}`;
  }
  return undefined;
}

const limitOf = ({ limits }: Scenario, item: string) => {
  if (item.startsWith('count_tokens#')) return Number.MAX_SAFE_INTEGER;
  return item.startsWith('guest#') ? limits.guestLimit : limits.memberLimit;
};
const usedIn = ({ items }: WorldState, item: string) => Number(items[item]?.used?.N ?? 0);

/** The charges of a minute, even if the item no longer has them. */
function countIn({ items }: Scenario, { environments }: WorldState, item: string, minute: number): number {
  let count = items ? Number(items[item]?.[`n${minute.toString(36)}`]?.N ?? 0) : 0;
  for (const { actor, applied } of environments) {
    if (actor?.counter?.item !== item || actor.counter.minute !== minute) continue;
    for (const { change } of applied) count += Math.max(0, change);
  }
  return count;
}

function brokenLimit(scenario: Scenario, state: WorldState): string | undefined {
  for (const item of Object.keys(state.items)) {
    const used = usedIn(state, item);
    if (used < 0) return `${item} is below zero`;
    if (used > limitOf(scenario, item)) return `${item} has more than its limit`;
  }
  for (const { actor } of state.environments) {
    if (!actor?.counter) continue;
    const { item, minute } = actor.counter;
    if (countIn(scenario, state, item, minute) > scenario.limits.burstLimit)
      return `${item} has more than its burst limit`;
  }
  return undefined;
}

/** Within an environment, charges can't be told apart by request, so only their numbers are checked. */
function brokenPromise({ actor, applied }: EnvironmentState, plan: Plan | undefined): string | undefined {
  const requests = plan ? requestsOf(plan) : 0;
  const failing = plan ? failingOf(plan) : 0;
  const charges = applied.reduce((sum, { change }) => sum + Math.max(0, change), 0);
  const refunds = applied.reduce((sum, { change }) => sum + Math.max(0, -change), 0);
  const count = (kind: Told['kind']) => actor?.told.filter((one) => one.kind === kind).length ?? 0;
  if (charges > requests) return 'is charged twice';
  if (refunds > failing && failing > 0) return 'is refunded twice';
  if (refunds > Math.min(charges, failing)) return 'is refunded for nothing';
  if (count('granted') > charges) return 'is free';
  // Yesterday's code does not prevent a late copy from charging after a refusal.
  const chargeable = requests - (plan?.yesterday ? 0 : count('refused'));
  if (charges > chargeable) return 'is refused, and charged';
  if (count('refunded') > refunds) return 'is told of a refund that was not made';
  const certain = actor?.told.filter((one) => one.kind === 'failed' && !one.answerLost).length ?? 0;
  return charges > chargeable - certain ? 'is charged, and nobody says so' : undefined;
}

/**
 * What a client is told must be true at that moment. `others` are told something in the same step but after it, as if
 * they had been charged later.
 */
function findUntruth(
  scenario: Scenario,
  state: WorldState,
  environment: EnvironmentState,
  told: Told,
  others: readonly Told[],
): string | undefined {
  // Two faults or fewer never prevent an answer, unless time runs out.
  const excused = environment.faults > 0 && state.timePassed;
  if (told.kind === 'refund lost') return excused ? undefined : 'loses its refund for no reason';
  if (told.kind === 'failed') {
    return excused && told.code === 'service_unavailable' ? undefined : `fails for no reason: ${told.code}`;
  }
  const { item, minute } = environment.actor?.counter ?? { item: '', minute: 0 };
  const [used, limit] = [usedIn(state, item), limitOf(scenario, item)];
  const later = told.kind === 'granted' ? others.filter(({ kind }) => kind === 'granted').length : 0;
  if (told.remaining !== undefined && told.remaining !== Math.max(0, limit - used + later)) {
    return `is told that ${told.remaining} remain, with ${used} of ${limit} used`;
  }
  if (told.kind !== 'refused') return undefined;
  const burstSpent = countIn(scenario, state, item, minute) >= scenario.limits.burstLimit;
  const right =
    told.code === 'rate_limited' ? burstSpent && used < limit : told.code === 'quota_exceeded' && used >= limit;
  return right ? undefined : `is refused (${told.code}) with room left`;
}
