import { expect, test } from '@jest/globals';
import { createTerminalStore } from '../../../lambda/tables/terminals.ts';

test('a user code that nobody has costs a read, and no write', async () => {
  const operations: string[] = [];
  const call = async (operation: string) => {
    operations.push(operation);
    return {} as never;
  };
  expect(await createTerminalStore(call, 'keys').findByUserCode('unknown', 5)).toBeUndefined();
  expect(operations).toEqual(['GetItem']);
});
