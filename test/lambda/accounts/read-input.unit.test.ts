import { expect, test } from '@jest/globals';
import type { AccountsRequest } from '../../../lambda/accounts/request.ts';
import { readInput } from '../../../lambda/accounts/steps.ts';

test('no more of a body is kept than an input may have', async () => {
  const limits: unknown[] = [];
  const request = {
    headers: { 'content-type': 'application/json' },
    bodySize: (limit?: number) => {
      limits.push(limit);
      return 65_537;
    },
  };
  const reading = async () => readInput.before?.(request as unknown as AccountsRequest);
  await expect(reading()).rejects.toMatchObject({ code: 'request_too_large' });
  expect(limits).toEqual([65_536]);
});
