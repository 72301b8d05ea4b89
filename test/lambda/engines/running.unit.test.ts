import { expect, test } from '@jest/globals';
import { createRunning } from '../../../lambda/engines/running.ts';

test('running entries are listed until they are removed, in any order', () => {
  const orders = [
    [0, 1, 2, 3],
    [3, 2, 1, 0],
    [1, 3, 0, 2],
    [2, 0, 3, 1],
  ];
  for (const order of orders) {
    const running = createRunning<string>();
    const names = ['a', 'b', 'c', 'd'];
    const remove = names.map((name) => running.add(name));
    const left = new Set(names);
    for (const at of order) {
      remove[at]?.();
      left.delete(names[at] ?? '');
      expect(running.list().toSorted()).toEqual([...left]);
    }
    running.add('e');
    expect(running.list()).toEqual(['e']);
  }
});
