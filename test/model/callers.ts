import { randomBytes } from 'node:crypto';
import { issueKey } from '../../lambda/identity/issued-keys.ts';
import type { TestGateway } from '../support/gateway.ts';
import type { Random } from '../support/random.ts';
import type { Budget } from './ledger.ts';
import type { Caller, Rules } from './rules.ts';

interface Parts {
  readonly keys: TestGateway['keys'];
  readonly rules: Rules;
  readonly random: Random;
  readonly clock: { time: number };
}

interface Callers {
  draw(): Caller;
  /** Does what operators do now and then: issues a key, or changes a limit or budget. */
  administer(): Promise<void>;
}

interface Own {
  readonly limit?: number | undefined;
  readonly budget?: Budget | undefined;
}

/** Room for a few requests or for many, of which only some set a small output limit. */
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

  const issue = async (member: string, own: Own = {}): Promise<void> => {
    const request = { member, limit: own.limit, ...stored(own.budget) };
    const { key, record } = await issueKey(keys, request, { now: () => clock.time, randomBytes });
    rules.keys.set(key, { id: record.id, member, ...own });
    shared.push(key);
  };
  const change = async (text: string, field: Own): Promise<void> => {
    const known = rules.keys.get(text);
    if (!known) return;
    rules.keys.set(text, { ...known, ...field });
    await keys.change(known.id, 'budget' in field ? stored(field.budget) : { limit: field.limit });
  };

  for (const member of [...members, ...members]) await issue(member);
  for (const limit of [0, 4, 15]) await issue('ada', { limit });
  for (const amount of [300, 60_000]) {
    await issue('cyd', { budget: { ...drawBudget(random), amount } });
    await issue('cyd', { limit: 15, budget: { ...drawBudget(random), amount } });
  }

  const networks = 150;
  const placeholders = ['guest', 'x', 'sk-anything', '__proto__', 'constructor', 'schlüssel'];
  return {
    draw() {
      const from = address(random.below(networks));
      const dice = random.below(100);
      if (dice < 3) return { address: from };
      if (dice < 6) return { address: from, shows: `ltk_${random.pick(['', 'unknown', '__proto__'])}` };
      if (dice < 65) return { address: from, shows: random.pick(shared) };
      return { address: from, shows: random.pick(placeholders) };
    },
    async administer() {
      const limit = random.once(2) ? undefined : random.below(20);
      if (random.once(3)) await issue(random.pick(members), { limit });
      else if (random.once(2)) await change(random.pick(shared), { limit });
      else await change(random.pick(shared), { budget: random.once(3) ? undefined : drawBudget(random) });
    },
  };
}
