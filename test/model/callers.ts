import { randomBytes } from 'node:crypto';
import { issueKey } from '../../lambda/identity/keys.ts';
import type { TestGateway } from '../support/gateway.ts';
import type { Random } from '../support/random.ts';
import type { Budget } from './ledger.ts';
import { type Caller, networkOf, type Rules } from './rules.ts';

interface Parts {
  readonly keys: TestGateway['keys'];
  readonly rules: Rules;
  readonly random: Random;
  readonly clock: { time: number };
}

export interface Callers {
  draw(): Caller;
  /** Does what an operator does now and then: revokes a key, changes a limit, links a network. Returns which. */
  administer(): Promise<void>;
}

const day = 86_400_000;
interface Own {
  readonly limit?: number | undefined;
  readonly budget?: Budget | undefined;
}

/** Room for a few requests or for many, of which only some name a small output limit. */
export const drawBudget = (random: Random): Budget => ({
  amount: random.pick([300, 2_000, 60_000, 1_000_000]),
  window: random.pick(['day', 'week', 'month']),
});

/** As keys store it. */
const stored = (budget: Budget | undefined) => ({ budget: budget?.amount, budgetWindow: budget?.window });

const members = ['ada', 'bob', 'cyd', 'dan', 'eve'];

/** A small world of callers, both in the tables and in the model. */
export async function createCallers({ keys, rules, random, clock }: Parts): Promise<Callers> {
  const address = (network: number) => `127.0.${1 + Math.floor(network / 250)}.${1 + (network % 250)}`;
  const shared: string[] = [];

  const issue = async (member: string, more: Own & { expiresAt?: number } = {}): Promise<string> => {
    const issued = await issueKey(
      keys,
      { member, ...more, ...stored(more.budget) },
      { now: () => clock.time, randomBytes },
    );
    rules.keys.set(issued.key, { id: issued.record.id, member, ...more });
    return issued.key;
  };
  const link = async (at: string): Promise<void> => {
    const made = { member: random.pick(members), expiresAt: clock.time + day };
    await keys.link(networkOf(at), { ...made, linkedAt: clock.time });
    rules.links.set(at, made);
  };
  const change = async (text: string, field: Own & { revoked?: boolean }): Promise<void> => {
    const known = rules.keys.get(text);
    if (!known) return;
    rules.keys.set(text, { ...known, ...field });
    if (field.revoked) await keys.revoke(known.id, clock.time);
    else await keys.change(known.id, 'budget' in field ? stored(field.budget) : { limit: field.limit });
  };

  for (const member of members) shared.push(await issue(member), await issue(member));
  for (const limit of [0, 4, 15]) shared.push(await issue('ada', { limit }));
  for (const amount of [300, 60_000]) {
    shared.push(await issue('cyd', { budget: { ...drawBudget(random), amount } }));
    shared.push(await issue('cyd', { limit: 15, budget: { ...drawBudget(random), amount } }));
  }
  shared.push(await issue('bob', { expiresAt: clock.time + day }));
  for (const network of [0, 1, 2]) await link(address(network));

  const networks = 150;
  const placeholders = ['guest', 'x', 'sk-anything', '__proto__', 'constructor', 'schlüssel'];
  return {
    draw() {
      const from = address(random.below(networks));
      const dice = random.below(100);
      if (dice < 3) return { address: from };
      if (dice < 6) return { address: from, shows: `ltk_${random.pick(['', 'unknown', '__proto__'])}` };
      if (dice < 65) return { address: from, shows: random.pick(shared) };
      if (dice < 75) return { address: address(random.below(3)), shows: random.pick(placeholders) };
      if (dice < 78) return { address: address(random.below(3)), shows: 'web', origin: 'https://elsewhere.example' };
      return { address: from, shows: random.pick(placeholders) };
    },
    async administer() {
      const text = random.pick(shared);
      const dice = random.below(4);
      if (dice === 0) {
        await change(text, { revoked: true });
        // Now and then somebody still tries the revoked key.
        if (random.below(4) > 0) shared.splice(shared.indexOf(text), 1);
        shared.push(await issue(random.pick(members), random.once(3) ? { limit: random.below(20) } : {}));
      } else if (dice === 1) await change(text, { limit: random.once(2) ? undefined : random.below(20) });
      else if (dice === 2) await change(text, { budget: random.once(3) ? undefined : drawBudget(random) });
      else await link(address(random.below(3)));
    },
  };
}
