import { test } from '@jest/globals';
import { runAll } from './run-all.ts';
import { combined } from './scenarios.ts';

test('no schedule of charges that are written together breaks a promise', () => runAll('together', combined));
