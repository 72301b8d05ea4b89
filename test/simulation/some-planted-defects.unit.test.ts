import { globSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { loadSubject } from './bundle.ts';
import { defects, found } from './defects.ts';
import { drawPlan } from './draw.ts';
import { violationIn } from './run.ts';

const rooms = [...Map.groupBy(found, ({ room }) => room).values()];

test('each piece of code that a defect replaces stands at one place', () => {
  const code = globSync('lambda/**/*.ts').map((file) => readFileSync(file, 'utf8'));
  const placesOf = (piece: string) => code.reduce((places, text) => places + text.split(piece).length - 1, 0);
  expect(code.length).toBeGreaterThan(200);
  expect(defects.filter((defect) => placesOf(defect.code) !== 1)).toEqual([]);
});

test('nine of ten are found, in ten rooms, and some that the gateway had once', () => {
  expect(found.length).toBeGreaterThanOrEqual(0.9 * defects.length);
  expect(rooms.length).toBeGreaterThanOrEqual(10);
  expect(found.filter(({ wasFixed }) => wasFixed).length).toBeGreaterThanOrEqual(20);
});

// The long tests plant all of them.
const some = rooms.flatMap(([first], at) => (first && at % 4 === 0 ? [first] : []));
test.each(some)('$room: $name: the world $seed shows it', async ({ seed, ...defect }) => {
  expect(await violationIn(await loadSubject(defect), drawPlan(seed))).toBeDefined();
});
