import { expect, test } from '@jest/globals';
import type { PipelineRequest } from '../../../lambda/wallet/middleware/middleware.ts';
import { readInput } from '../../../lambda/wallet/middleware/read-input.ts';

test('no more of a body is kept than an input may have', async () => {
  const limits: unknown[] = [];
  const event = {
    headers: { 'content-type': 'application/json' },
    bodySize: (limit?: number) => {
      limits.push(limit);
      return 65_537;
    },
  };
  const reading = async () => readInput().before?.({ event } as unknown as PipelineRequest);
  await expect(reading()).rejects.toMatchObject({ code: 'request_too_large' });
  expect(limits).toEqual([65_536]);
});
