import { test } from '@jest/globals';
import { expectBoundedMemory } from './measure-unread-streams.ts';

test('an unread stream of a long body, or of many tools, holds what one that is passed on does, and what is counted', () => {
  expectBoundedMemory(2, 7);
});
