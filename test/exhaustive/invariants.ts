import type { Counter, Told } from './actor.ts';
import type { Plan, Scenario } from './scenarios.ts';
import type { EnvironmentState, WorldState } from './world.ts';

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
      news.map((told) => findUntruth(scenario, state, environment, told)).find(Boolean);
    if (fault !== undefined) return `${index + 1} ${fault}`;
  }
  return undefined;
}

const usedIn = ({ items }: WorldState, { item, used }: Counter) => Number(items[item]?.[used]?.N ?? 0);

const limitOf = ({ limits }: Scenario, { item }: Counter) =>
  item.startsWith('count_tokens#') ? Number.MAX_SAFE_INTEGER : limits.memberLimit;

/** The charges of a minute, even if the item no longer has them. */
function countIn({ environments }: WorldState, { item, minute }: Counter): number {
  const ofMinute = environments.filter(({ actor }) => actor?.counter?.item === item && actor.counter.minute === minute);
  return ofMinute.flatMap(({ applied }) => applied).filter((change) => change > 0).length;
}

function brokenLimit(scenario: Scenario, state: WorldState): string | undefined {
  for (const { actor } of state.environments) {
    if (!actor?.counter) continue;
    const [used, { item }] = [usedIn(state, actor.counter), actor.counter];
    if (used < 0) return `${item} is below zero`;
    if (used > limitOf(scenario, actor.counter)) return `${item} has more than its limit`;
    if (countIn(state, actor.counter) > scenario.limits.burstLimit) return `${item} has more than its burst limit`;
  }
  return undefined;
}

function brokenPromise({ actor, applied }: EnvironmentState, plan: Plan | undefined): string | undefined {
  const charges = applied.filter((change) => change > 0).length;
  const refunds = applied.length - charges;
  const isTold = (...kinds: Told['kind'][]) => actor?.told.some(({ kind }) => kinds.includes(kind)) ?? false;
  if (charges > 1) return 'is charged twice';
  if (refunds > 1) return 'is refunded twice';
  if (refunds > (plan?.fails ? charges : 0)) return 'is refunded for nothing';
  if (charges === 0 && isTold('granted')) return 'is free';
  if (charges === 1 && isTold('refused')) return 'is refused, and charged';
  if (refunds === 0 && isTold('refunded')) return 'is told of a refund that was not made';
  const isCertain = actor?.told.some(({ kind, answerLost }) => kind === 'failed' && !answerLost);
  return charges === 1 && isCertain ? 'is charged, and nobody says so' : undefined;
}

/** What a client is told must be true at that moment. */
function findUntruth(
  scenario: Scenario,
  state: WorldState,
  { actor, faults }: EnvironmentState,
  { kind, code, remaining }: Told,
): string | undefined {
  // Two faults or fewer never prevent an answer, unless time runs out.
  const excused = faults > 0 && state.timePassed;
  if (kind === 'refund lost') return excused ? undefined : 'loses its refund for no reason';
  if (kind === 'failed') return excused && code === 'service_unavailable' ? undefined : `fails for no reason: ${code}`;
  const counter = actor?.counter ?? { item: '', used: '', minute: 0 };
  const [used, limit] = [usedIn(state, counter), limitOf(scenario, counter)];
  if (remaining !== undefined && remaining !== Math.max(0, limit - used)) {
    return `is told that ${remaining} remain, with ${used} of ${limit} used`;
  }
  if (kind !== 'refused') return undefined;
  const burstSpent = countIn(state, counter) >= scenario.limits.burstLimit;
  const isRight = code === 'rate_limited' ? burstSpent && used < limit : used >= limit;
  return isRight ? undefined : `is refused (${code}) with room left`;
}
