import { test } from '@jest/globals';
import { runAll } from './run-all.ts';
import { triples } from './scenarios.ts';

test('no schedule of three requests breaks a promise', () => runAll('three requests', triples));
