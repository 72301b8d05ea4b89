import { createHash, createHmac } from 'node:crypto';
import { type CallerPlan, callersOf, type Plan } from './plan.ts';
import { salt } from './settings.ts';
import { type Store, tables } from './store.ts';

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
export function admit(plan: Plan, store: Store, begin: number): void {
  let isAnyIssued = false;
  for (const caller of callersOf(plan)) {
    const { kind, who, limit, budget, used } = caller;
    const key = keyOf(caller);
    if (key === undefined || kind === 'guest' || kind === 'unknown key') continue;
    isAnyIssued = true;
    store.put(tables.keys, `key#${createHash('sha256').update(key).digest('hex')}`, {
      id: `key_${kind.replace(' ', '-')}-${who}`,
      member: `member-${who}`,
      createdAt: begin - 1_000,
      ...(kind === 'own limit' && { limit }),
      ...(kind === 'budget' && { budget, budgetWindow: 'day' }),
    });
    if (used > 0) store.put(tables.quota, itemOf(caller), { [`u${Math.floor(begin / 86_400_000)}`]: used });
  }
  if (isAnyIssued) store.put(tables.keys, 'issued', {});
}

/** Where a caller's requests are counted. */
export function itemOf(caller: CallerPlan): string {
  const { kind, who } = caller;
  if (kind === 'guest') return `guest#${networkIdOf(addressOf(caller))}`;
  return kind === 'member' ? `member#member-${who}` : `key#key_${kind.replace(' ', '-')}-${who}`;
}
