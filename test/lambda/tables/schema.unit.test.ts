import { describe, expect, test } from '@jest/globals';
import { keysSchema, quotaSchema, toCreateTableInput } from '../../../lambda/tables/schema.ts';

describe('toCreateTableInput', () => {
  test('names every key attribute once, with its indexes', () => {
    const input = toCreateTableInput(keysSchema, 'my-keys');
    expect(input.TableName).toBe('my-keys');
    expect(input.KeySchema).toEqual([{ AttributeName: 'pk', KeyType: 'HASH' }]);
    expect(input.AttributeDefinitions).toEqual([
      { AttributeName: 'pk', AttributeType: 'S' },
      { AttributeName: 'id', AttributeType: 'S' },
      { AttributeName: 'member', AttributeType: 'S' },
      { AttributeName: 'createdAt', AttributeType: 'N' },
    ]);
    expect(input.GlobalSecondaryIndexes?.map((index) => index.KeySchema)).toEqual([
      [{ AttributeName: 'id', KeyType: 'HASH' }],
      [
        { AttributeName: 'member', KeyType: 'HASH' },
        { AttributeName: 'createdAt', KeyType: 'RANGE' },
      ],
    ]);
  });

  test('leaves out attributes that a table without indexes must not name', () => {
    expect(toCreateTableInput(quotaSchema, 'quota')).not.toHaveProperty('GlobalSecondaryIndexes');
  });
});
