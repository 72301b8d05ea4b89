import { expect, test } from '@jest/globals';
import type { CallService } from '../../../../lambda/aws/call-service.ts';
import { createGiveUp } from '../../../../lambda/store/dynamodb/give-up.ts';

test('calls go through until all are aborted, running and future ones', async () => {
  const asked: unknown[] = [];
  const answers = [Promise.withResolvers<object>(), Promise.withResolvers<object>(), Promise.withResolvers<object>()];
  const { call, giveUp } = createGiveUp((async (...input: unknown[]) => {
    asked.push(input);
    return answers[asked.length - 1]?.promise;
  }) as CallService);
  const [answered, refused, running] = [call('GetItem', { a: 1 }), call('GetItem', {}), call('UpdateItem', {})];
  answers[0]?.resolve({ Item: {} });
  answers[1]?.reject(new Error('no'));
  expect(await answered).toEqual({ Item: {} });
  await expect(refused).rejects.toThrow('no');
  giveUp();
  await expect(running).rejects.toMatchObject({ name: 'GivenUp', message: 'the process ends' });
  await expect(call('GetItem', {})).rejects.toMatchObject({ name: 'GivenUp' });
  expect(asked).toEqual([
    ['GetItem', { a: 1 }],
    ['GetItem', {}],
    ['UpdateItem', {}],
  ]);
});
