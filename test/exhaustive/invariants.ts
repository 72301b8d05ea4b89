import type { Told } from './actor.ts';
import type { Plan, Scenario } from './scenarios.ts';
import type { RequestState, WorldState } from './world.ts';

/** What is wrong in this moment, if anything; `before` is the moment before it. */
export function findFault(scenario: Scenario, before: WorldState, state: WorldState): string | undefined {
  const broken = brokenLimit(scenario, state);
  if (broken !== undefined) return broken;
  for (const [index, request] of state.requests.entries()) {
    const known = before.requests[index]?.actor?.told.length ?? 0;
    const untrue = request.actor?.told.slice(known).map((told) => findUntruth(scenario, state, request, told));
    const fault = brokenPromise(request, scenario.requests[index]) ?? untrue?.find(Boolean);
    if (fault !== undefined) return `${index + 1} ${fault}`;
  }
  return undefined;
}

const limitOf = ({ limits }: Scenario, item: string) => {
  if (item.startsWith('count_tokens#')) return Number.MAX_SAFE_INTEGER;
  return item.startsWith('guest#') ? limits.guestLimit : limits.memberLimit;
};
const usedIn = ({ items }: WorldState, item: string) => Number(items[item]?.used?.N ?? 0);

/** The charges of a minute, whatever the item still says of it. */
function countIn({ items }: Scenario, { requests }: WorldState, item: string, minute: number): number {
  let count = items ? Number(items[item]?.[`n${minute.toString(36)}`]?.N ?? 0) : 0;
  for (const { actor, applied } of requests) {
    if (actor?.counter?.item !== item || actor.counter.minute !== minute) continue;
    for (const { change } of applied) if (change > 0) count += 1;
  }
  return count;
}

function brokenLimit(scenario: Scenario, state: WorldState): string | undefined {
  for (const item of Object.keys(state.items)) {
    const used = usedIn(state, item);
    if (used < 0) return `${item} is below zero`;
    if (used > limitOf(scenario, item)) return `${item} has more than its limit`;
  }
  for (const { actor } of state.requests) {
    if (!actor?.counter) continue;
    const { item, minute } = actor.counter;
    if (countIn(scenario, state, item, minute) > scenario.limits.burstLimit)
      return `${item} has more than its burst limit`;
  }
  return undefined;
}

function brokenPromise({ actor, applied }: RequestState, plan: Plan | undefined): string | undefined {
  const charges = applied.filter(({ change }) => change > 0).length;
  const refunds = applied.length - charges;
  const was = (kind: Told['kind']) => actor?.told.some((one) => one.kind === kind) ?? false;
  if (charges > 1 || applied.some(({ change }) => Math.abs(change) !== 1)) return 'is charged twice';
  if (refunds > 1) return 'is refunded twice';
  if (refunds > charges || (refunds > 0 && !plan?.fails)) return 'is refunded for nothing';
  if (was('granted') && charges === 0) return 'is free';
  // Yesterday's code did not know of copies that arrive after a refusal.
  if (was('refused') && charges > 0 && !plan?.yesterday) return 'is refused, and charged';
  if (was('refunded') && refunds === 0) return 'is told of a refund that was not made';
  const certain = actor?.told.some((one) => one.kind === 'failed' && !one.answerLost);
  return certain && charges > 0 ? 'is charged, and nobody says so' : undefined;
}

/** What a client is told has to be true when it is told. */
function findUntruth(scenario: Scenario, state: WorldState, request: RequestState, told: Told): string | undefined {
  // With at most two faults there is an answer, unless time runs out.
  const excused = request.faults > 0 && state.timePassed;
  if (told.kind === 'refund lost') return excused ? undefined : 'loses its refund for no reason';
  if (told.kind === 'failed') {
    return excused && told.code === 'service_unavailable' ? undefined : `fails for no reason: ${told.code}`;
  }
  const { item, minute } = request.actor?.counter ?? { item: '', minute: 0 };
  const [used, limit] = [usedIn(state, item), limitOf(scenario, item)];
  if (told.remaining !== undefined && told.remaining !== Math.max(0, limit - used)) {
    return `is told that ${told.remaining} remain, with ${used} of ${limit} used`;
  }
  if (told.kind !== 'refused') return undefined;
  const burstSpent = countIn(scenario, state, item, minute) >= scenario.limits.burstLimit;
  const right =
    told.code === 'rate_limited' ? burstSpent && used < limit : told.code === 'quota_exceeded' && used >= limit;
  return right ? undefined : `is refused (${told.code}) with room left`;
}
