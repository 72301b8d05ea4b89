import { describe, expect, test } from '@jest/globals';
import { describeCause } from '../../../lambda/report/log.ts';
import { testRows } from '../../support/test-rows.ts';

describe('a cause in the log', () => {
  test('is logged by its kind and origin', () => {
    const { at, ...rest } = describeCause(Object.assign(new RangeError('secret'), { code: 'ECODE' }));
    expect(rest).toEqual({ cause: 'RangeError', causeCode: 'ECODE' });
    expect(at).toEqual(expect.arrayContaining([expect.stringMatching(/^at .*log\.unit\.test\.ts:\d+:\d+/)]));
  });

  testRows(['secret', 'no\n    at secret (secret:1:1)\n    at secret', '', 'Error', '\n    at '])(
    'is never its message',
    (message) => {
      const known = describeCause(new Error('x'));
      const described = JSON.stringify(describeCause(new Error(message)));
      expect(described).not.toMatch('secret');
      expect(JSON.parse(described).at).toHaveLength(Array(known.at).flat().length);
    },
  );

  test('has nothing of a message that was changed afterwards', () => {
    const error = new Error('no\n    at secret');
    expect(error.stack).toMatch('secret'); // written down when first read
    error.message = 'other';
    expect(JSON.stringify(describeCause(error))).not.toMatch('secret');
  });

  test('is its type if it is not an error', () => {
    expect(describeCause('secret')).toEqual({ cause: 'string' });
    expect(describeCause(undefined)).toEqual({});
  });
});
