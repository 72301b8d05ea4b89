import { createHash, createHmac } from 'node:crypto';
import { type CallerPlan, callersOf, type Plan } from './plan.ts';
import { salt } from './settings.ts';
import type { WorldStore } from './store/store.ts';

export const addressOf = ({ kind, who }: CallerPlan): string => `203.0.113.${(kind === 'guest' ? 10 : 100) + who}`;

/** What it shows; placeholders are for guests. */
export function keyOf({ kind, who }: CallerPlan): string | undefined {
  if (kind === 'no key') return undefined;
  if (kind === 'guest') return 'anything';
  return `ltk_${`${kind.replace(' ', '')}-${who}-`.padEnd(43, 'k')}`;
}

const networkIdOf = (address: string): string =>
  createHmac('sha256', salt).update(address).digest('base64url').slice(0, 22);

/** Issues the keys, and counts what was used before. */
export function admit(plan: Plan, store: WorldStore, begin: number): void {
  for (const caller of callersOf(plan)) {
    const { kind, who, limit, budget, budgetWindow, used } = caller;
    const key = keyOf(caller);
    if (key === undefined || kind === 'guest' || kind === 'unknown key') continue;
    store.putKey(createHash('sha256').update(key).digest('hex'), {
      id: `key_${kind.replace(' ', '-')}-${who}`,
      member: `member-${who}`,
      createdAt: begin - 1_000,
      ...(kind === 'own limit' && { limit }),
      ...(kind === 'budget' && { budget, budgetWindow }),
    });
    if (used > 0) store.putUsed(itemOf(caller), Math.floor(begin / 86_400_000), used);
  }
}

/** Where a caller's requests are counted. */
export function itemOf(caller: CallerPlan): string {
  const { kind, who } = caller;
  if (kind === 'guest') return `guest#${networkIdOf(addressOf(caller))}`;
  return kind === 'member' ? `member#member-${who}` : `key#key_${kind.replace(' ', '-')}-${who}`;
}
