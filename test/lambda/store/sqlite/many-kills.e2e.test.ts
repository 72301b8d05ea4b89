import { test } from '@jest/globals';
import { expectNothingLost } from './charge-until-killed.ts';

test('a process that is killed loses nothing that it has answered, twenty times over', () => expectNothingLost(20));
