import { expect, test } from '@jest/globals';
import OpenAI from 'openai';
import { PRICES } from '../support/prices.ts';
import { getKey, startSession } from './session.ts';

const session = startSession({ PRICES, MEMBER_BUDGET: '20' });

test('a member sees what is left to spend, beside the requests', async () => {
  await using watched = await session.openCli(1);
  const { page, complaints } = watched;
  const apiKey = await getKey(page);
  const budget = page.locator('#budget');
  expect(await budget.textContent()).toMatch(/^20\.00 of 20\.00 USD are left to spend this month, which ends in \d+ /);

  const client = new OpenAI({ baseURL: `${session.url}/v1`, apiKey, maxRetries: 0 });
  const messages = [{ role: 'user' as const, content: 'Hi' }];
  await client.chat.completions.create({ model: 'svc', max_tokens: 10, messages });
  await page.getByRole('button', { name: 'Refresh the requests left today' }).click();
  await page.getByText('49 of 50', { exact: true }).waitFor();
  expect(await budget.textContent()).toMatch(/^19\.99\d* of 20\.00 USD are left/);
  expect(await budget.isVisible()).toBe(true);
  expect(complaints).toEqual([]);
});
