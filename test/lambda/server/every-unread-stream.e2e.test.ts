import { test } from '@jest/globals';
import { expectBoundedMemory } from './measure-unread-streams.ts';

test('an unread stream that is translated holds what one that is passed on does, and what is counted', () => {
  expectBoundedMemory(9, 1);
});
