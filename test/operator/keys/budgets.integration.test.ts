import { afterAll, describe, expect, test } from '@jest/globals';
import { hashKey } from '../../../lambda/identity/issued-keys.ts';
import { memberWindow } from '../../../lambda/quota/policy.ts';
import { createToken } from '../../../lambda/store/counters.ts';
import { now, startKeysProgram } from './keys-program.ts';

const { target: priced, counters, runOn, run, runJson, close } = await startKeysProgram({ currency: 'EUR' });
afterAll(close);

const soon = 'Within 60 seconds this holds everywhere\\.';

test('a key is issued with a budget, models and a burst of its own, which show and list tell', async () => {
  const options = ['--member', 'ada', '--budget', '20/month', '--models', 'acme,acme', '--burst', '60'];
  const { id, key } = await runJson('issue', ...options);
  expect(await priced.keys.findKey(hashKey(key))).toEqual({
    ...{ id, member: 'ada', createdAt: now },
    ...{ budget: 20_000_000, budgetWindow: 'month', models: ['acme'], burst: 60 },
  });
  const own = { budget: { amount: '20.00', window: 'month' }, models: ['acme'], burst: 60 };
  expect(await runJson('show', id)).toMatchObject(own);
  expect((await runJson('list', '--member', 'ada')).keys).toMatchObject([own]);
  const text = await run('show', id);
  for (const [name, value] of [
    ['limit', '40 requests a day, for this key alone'],
    ['budget', '20.00 EUR a month, for this key alone'],
    ['models', 'acme'],
    ['burst', '60 requests a minute'],
  ]) {
    expect(text).toMatch(new RegExp(`^${name} +${value}$`, 'm'));
  }
  expect(await run('list', '--member', 'ada')).toMatch(/ 20\.00\/month +60 +acme +2026-11-21/);
});

test('a budget that a usual request does not fit is warned of, for the models that the key may use', async () => {
  const settings = { reservedByDefault: { acme: 61_440, 'acme-vision': 20_480, 'acme-embedding': 0 } };
  const warned = (costs: string) => ` names no output limit: ${costs}. Such requests are refused.`;
  const both = warned('0.06144 EUR for acme, 0.02048 EUR for acme-vision');
  expect(await runOn(settings, 'issue', '--budget', '0.02/day')).toContain(both);
  expect(await runOn(settings, 'issue', '--budget', '0.03/day')).toContain(warned('0.06144 EUR for acme'));
  for (const options of [['0.07/day'], ['0.03/day', '--models', 'acme-vision']]) {
    expect(await runOn(settings, 'issue', '--budget', ...options)).not.toContain('reserves');
  }
  expect(await runOn(settings, 'issue')).not.toContain('reserves');
  const { id } = await runJson('issue');
  expect(await runOn(settings, 'budget', id, '0.02/day')).toContain(both);
});

test('a new key says what budget it has, or shares', async () => {
  const memberBudget = { amount: 5_000_000, window: 'week' } as const;
  const shared = await runOn({ memberBudget }, 'issue');
  expect(shared).toMatch(/budget +5\.00 EUR a week, shared by all keys of the member\n/);
  expect(await runOn({ memberBudget }, 'issue', '--limit', '3')).toMatch(
    /budget +5\.00 EUR a week, for this key alone\n/,
  );
  expect(await run('issue')).not.toContain('budget');
});

test('a budget is changed and taken away', async () => {
  const { id } = await runJson('issue', '--member', 'grace');
  const memberBudget = { amount: 5_000_000, window: 'week' } as const;
  const changed = `^${id} is changed\\. ${soon} It`;
  expect(await runOn({ memberBudget }, 'budget', id, '60/month')).toMatch(
    new RegExp(`${changed} counts for itself: [^]*\nbudget +60\\.00 EUR a month, for this key alone\n`),
  );
  expect(await runOn({ memberBudget }, 'budget', id, 'none')).toMatch(
    new RegExp(`${changed} draws on [^]*\nbudget +5\\.00 EUR a week, shared by all keys of the member\n`),
  );
  const none = await run('budget', id, 'none');
  expect(none).toMatch(new RegExp(`${changed} has no budget now\\.\n\nid [^]*\nlimit `));
  expect(none).not.toMatch(/^budget/m);
  // With a limit of its own it has its own copy of the member's budget.
  await run('limit', id, '7');
  expect(await runOn({ memberBudget }, 'budget', id, '9/week')).toContain(
    ' It counts for itself: nothing is counted in the current week so far.',
  );
  expect((await priced.keys.findById(id))?.budgetWindow).toBe('week');
  await run('budget', id, 'none');
  const left = Object.keys((await priced.keys.findById(id)) ?? {});
  expect(left.toSorted()).toEqual(['createdAt', 'id', 'limit', 'member']);
});

test('models and a burst are changed and taken away', async () => {
  const { id } = await runJson('issue');
  expect(await run('models', id, 'acme,acme-vision')).toMatch(/\nmodels +acme, acme-vision\n/);
  expect(await runJson('models', id, 'acme')).toMatchObject({ id, models: ['acme'] });
  expect(await run('models', id, 'all')).not.toContain('models');
  expect(await run('burst', id, '148')).toMatch(/\nburst +148 requests a minute\n/);
  expect(await runJson('burst', id, 'default')).toMatchObject({ id, burst: null, models: null });
});

test('a rotated key has what the old one had of its own, and counts anew', async () => {
  const old = await runJson('issue', '--budget', '20/month', '--models', 'acme', '--burst', '60');
  const text = await run('rotate', old.id);
  expect(text).toContain(`instead of ${old.id}. What it counts for itself alone starts at 0.`);
  const key = /ltk_[\w-]{43}/.exec(text)?.[0] ?? '';
  const own = { budget: 20_000_000, budgetWindow: 'month', models: ['acme'], burst: 60 };
  expect(await priced.keys.findKey(hashKey(key))).toMatchObject(own);
});

test.each([
  [{ currency: undefined }, ['--budget', '1/day'], 'this gateway has no PRICES, without which nothing can be counted'],
  [{}, ['--models', 'acme,opus'], 'opus is no public model: there may be acme, acme-vision, acme-embedding'],
  [{}, ['--burst', '149'], 'a burst may be at most 148, which one counter can serve: issue several keys instead'],
])('what a gateway could not keep to is refused: %j %j', async (settings, options, reason) => {
  const issued = runOn(settings, 'issue', '--member', 'refused', ...options);
  await expect(issued).rejects.toThrow(reason);
  const { id } = await runJson('issue', '--member', 'other');
  const [name = '', value = ''] = options;
  await expect(runOn(settings, name.slice(2), id, value)).rejects.toThrow(reason);
  expect(await run('list', '--member', 'refused')).toBe('No keys.');
  expect(await priced.keys.findById(id)).toEqual({ id, member: 'other', createdAt: now });
});

/** Charges a key or member of this gateway, reserving an amount, some minutes ago. */
async function charge(owner: Parameters<typeof memberWindow>[1], reserve: number, minutesAgo = 0, settings = {}) {
  const limits = { memberLimit: 40, ...settings };
  const window = memberWindow(limits, owner, now - minutesAgo * 60_000);
  const { budget } = window;
  if (budget === undefined) throw new Error('no budget');
  const result = await counters.charge({ ...window, burst: 100, budget: { ...budget, reserve } }, createToken());
  if (!result.granted || result.reservation === undefined) throw new Error('not reserved');
  return { window, reservation: result.reservation };
}

const settle = ({ window, reservation }: Awaited<ReturnType<typeof charge>>, spent: number) =>
  counters.settle(window, reservation, { spent, used: { kind: 'text', input: 900, output: 30 } });

describe('what a budget has spent', () => {
  const own = { budget: { amount: 20_000_000, window: 'month' } } as const;
  const spend = async (owner: Parameters<typeof memberWindow>[1], amount: number, settings = {}) =>
    settle(await charge(owner, amount, 0, settings), amount);

  test('show and usage tell what is spent, reserved, lost and left', async () => {
    const member = 'spender';
    const limits = ['--budget', '20/month', '--limit', '7', '--burst', '60', '--models', 'acme,acme-vision'];
    const { id } = await runJson('issue', '--member', member, '--label', 'ci', ...limits);
    const owner = { member, keyId: id, own };
    await spend(owner, 1_250_000);
    await charge(owner, 960_000);
    await charge(owner, 40_000, 90);
    const budget = {
      ...{ currency: 'EUR', window: 'month', limit: '20.00', spent: '1.25', reserved: '0.96', unsettled: '0.04' },
      ...{ remaining: '17.75', resetsAt: '2026-12-01T00:00:00.000Z' },
    };
    const models = [{ id: 'acme', inputTokens: 900, outputTokens: 30, spent: '1.25' }];
    expect((await runJson('show', id)).usage).toMatchObject({ used: 3, budget: { ...budget, models } });
    expect(await run('show', id)).toMatch(/^by model +acme: 900 tokens in and 30 out for 1\.25$/m);
    const whose = { kind: 'key', id, member, label: 'ci' };
    const kept = { burst: 60, models: ['acme', 'acme-vision'] };
    expect((await runJson('usage')).top).toContainEqual({ ...whose, used: 3, limit: 7, ...kept });
    expect(await run('usage')).toMatch(new RegExp(`^key +${id} +${member} +ci +3 +7 +60 +acme,acme-vision$`, 'm'));
    const left = '17.75 left until 2026-12-01 00:00 UTC';
    expect(await run('show', id)).toMatch(
      new RegExp(`^spent +1\\.25 of 20\\.00, 0\\.96 reserved, 0\\.04 unsettled, ${left}$`, 'm'),
    );
    expect((await runJson('usage')).budgets).toContainEqual({ ...whose, budget });
    expect(await run('usage')).toMatch(
      new RegExp(`^key +${id} +${member} +ci +month +20\\.00 +1\\.25 +0\\.96 +0\\.04 +17\\.75$`, 'm'),
    );
    expect(await run('usage')).toContain('\nAmounts are in EUR.\n');
  });

  test('is told by each change of the budget, whatever it was before', async () => {
    const { id } = await runJson('issue', '--member', 'changed', '--budget', '20/month');
    await spend({ member: 'changed', keyId: id, own }, 1_250_000);
    await charge({ member: 'changed', keyId: id, own }, 500_000);
    const itself = (what: string) => ` It counts for itself: ${what} counted in the current`;
    expect(await run('budget', id, '1/day')).toContain(`${itself('nothing is')} day so far.`);
    expect(await run('budget', id, '2/month')).toContain(`${itself('1.75 EUR is')} month so far.`);
    expect(await run('budget', id, 'none')).toContain(' It has no budget now.');
    expect(await run('budget', id, '3/month')).toContain(`${itself('1.75 EUR is')} month so far.`);
    const memberBudget = { amount: 5_000_000, window: 'month' } as const;
    await spend({ member: 'changed' }, 30_000, { memberBudget });
    expect(await runOn({ memberBudget }, 'budget', id, 'none')).toContain(
      ' It draws on what all keys of the member share: 0.03 EUR is counted in the current month so far.',
    );
  });

  test('usage shows those who spent most, members by the budget that they share', async () => {
    const memberBudget = { amount: 5_000_000, window: 'day' } as const;
    await spend({ member: 'shares' }, 4_999_999, { memberBudget });
    const text = await runOn({ memberBudget }, 'usage', '--top', '1');
    expect(text).toMatch(/^member +shares +day +5\.00 +4\.999999 +0\.00 +0\.00 +0\.000001$/m);
    expect(text).not.toMatch(/spender.* month /);
    // Whose budget was taken away spends none.
    expect((await runJson('usage')).budgets.map(({ id }: { id: string }) => id)).not.toContain('shares');
  });

  test('--release finds what was lost before the key counted with its member, or lost its budget', async () => {
    const { id } = await runJson('issue', '--member', 'moved', '--budget', '20/month');
    const owner = { member: 'moved', keyId: id, own };
    const memberBudget = { amount: 5_000_000, window: 'day' } as const;
    await charge(owner, 1_000_000, 60);
    await run('budget', id, 'none');
    await charge({ member: 'moved' }, 200_000, 60, { memberBudget });
    expect((await runOn({ memberBudget }, 'budget', id, '--release')).split(' ')[1]).toBe('1.20');
    await charge(owner, 300_000, 60);
    await run('limit', id, '7');
    expect(await runJson('budget', id, '--release')).toEqual({ id, released: '0.30' });
  });

  test('--release gives back what is lost, once, and nothing that may still be settled', async () => {
    const { id } = await runJson('issue', '--member', 'loser', '--budget', '20/month');
    const owner = { member: 'loser', keyId: id, own };
    await charge(owner, 100_000);
    const lost = [await charge(owner, 1_000_000, 17), await charge(owner, 500_000, 60)];
    expect(await runJson('budget', id, '--release')).toEqual({ id, released: '1.50' });
    expect(await run('budget', id, '--release')).toBe(`${id}: no reservation of its budget is lost.`);
    const figures = { spent: '0.00', reserved: '0.10', unsettled: '0.00', remaining: '19.90' };
    expect((await runJson('show', id)).usage.budget).toMatchObject(figures);
    for (const reservation of lost) expect(await settle(reservation, 1)).toBeUndefined();
    await charge(owner, 250_000, 30);
    expect(await run('budget', id, '--release')).toBe(
      `${id}: 0.25 EUR is given back, which lost requests had reserved.`,
    );
  });
});
