import { describe, expect, test } from '@jest/globals';
import { mostConnections } from '../../../lambda/engines/listen.ts';
import { createBodyBudget } from '../../../lambda/engines/memory-budget.ts';

const small = 65_536;
const bytes = 64 * small;

/** Rooms of this budget: `open` opens one, `fits` says whether a text of this size finds room. */
function openBudget() {
  const budget = createBodyBudget(bytes);
  const open = (network: string, size = 0) => {
    const memory = budget.open();
    memory.claim(network);
    if (size > 0) memory.take(size);
    return memory;
  };
  const fits = (network: string, size: number) => {
    try {
      open(network, size).leave();
      return true;
    } catch {
      return false;
    }
  };
  return { open, fits };
}

describe('one network', () => {
  test('gets at most a quarter', () => {
    const { open, fits } = openBudget();
    expect([fits('a', bytes / 4), fits('a', bytes / 4 + 1)]).toEqual([true, false]);
    open('a', bytes / 8);
    expect([fits('a', bytes / 8), fits('a', bytes / 8 + 1)]).toEqual([true, false]);
    expect(fits('b', bytes / 4)).toBe(true);
  });

  test('gets at most half of what the others leave, so that any number of networks leave some', () => {
    const { open, fits } = openBudget();
    for (const network of ['a', 'b', 'c']) open(network, bytes / 4);
    expect([fits('d', bytes / 8), fits('d', bytes / 8 + 1)]).toEqual([true, false]);
    open('d', bytes / 8);
    expect([fits('e', bytes / 16), fits('e', bytes / 16 + 1)]).toEqual([true, false]);
  });
});

describe('small buffers', () => {
  test('have another quarter to themselves, whatever large ones take', () => {
    const { open, fits } = openBudget();
    for (const network of ['a', 'b', 'c', 'd', 'e', 'f']) {
      const memory = open(network);
      let step = bytes / 4;
      for (; step > small; step /= 2) if (fits(network, step)) memory.take(step);
    }
    expect([fits('a', small + 1), fits('new', 4 * small)]).toEqual([false, false]);
    expect([fits('a', small), fits('new', small)]).toEqual([true, true]);
    for (let count = 0; count < 4; count += 1) open('a', small);
    expect(fits('a', small)).toBe(false);
    expect(fits('new', small)).toBe(true);
  });

  test('may exist twice, encoded and decoded; once either grows large, both count as large', () => {
    const { open, fits } = openBudget();
    const memory = open('a', small);
    memory.take(small, small);
    expect(fits('a', bytes / 4)).toBe(true);
    memory.take(1, small + 1);
    expect([fits('a', bytes / 4 - 2 * small - 1), fits('a', bytes / 4 - 2 * small)]).toEqual([true, false]);
    for (let count = 0; count < 4; count += 1) open('a', small);
  });
});

describe('released memory', () => {
  test('is available to others once, even if it is released twice', () => {
    const { open, fits } = openBudget();
    const memory = open('a', bytes / 4);
    open('b', bytes / 4);
    memory.leave(bytes / 8);
    expect([fits('a', bytes / 8), fits('a', bytes / 8 + 1)]).toEqual([true, false]);
    memory.leave();
    memory.leave();
    open('a', bytes / 4);
    memory.leave();
    expect(fits('a', 2 * small)).toBe(false);
    open('c', bytes / 4);
    expect([fits('d', bytes / 8), fits('d', bytes / 8 + 1)]).toEqual([true, false]);
  });

  test('is everything that a request held, as soon as it is refused', () => {
    const { open, fits } = openBudget();
    const memory = open('a', bytes / 8);
    expect(() => memory.take(bytes / 4)).toThrow('The gateway is busy with too many large requests.');
    expect(fits('a', bytes / 4)).toBe(true);
    memory.leave();
    open('a', bytes / 4);
    expect(fits('a', 2 * small)).toBe(false);
  });

  test('is everything except what is still needed', () => {
    const { open, fits } = openBudget();
    const memory = open('a', bytes / 4);
    memory.leaveAllBut(bytes / 8);
    memory.leaveAllBut(bytes / 8);
    expect([fits('a', bytes / 8), fits('a', bytes / 8 + 1)]).toEqual([true, false]);
    memory.leaveAllBut(bytes);
    expect(fits('a', bytes / 8 + 1)).toBe(false);
  });
});

test('connections leave enough descriptors, of Lambda’s and of this system’s', () => {
  // To clients and to upstreams, both services of AWS at their most, a dozen files and pipes.
  expect(2 * mostConnections(1_024) + 2 * 128).toBeLessThanOrEqual(1_024);
  expect(mostConnections()).toBeGreaterThanOrEqual(384);
});
