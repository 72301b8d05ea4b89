import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect, test } from '@jest/globals';
import { readCommand } from '../../bench/command.ts';
import { findExpensive, renderExpenses } from '../../bench/profile/expensive.ts';
import { createProfiler } from '../../bench/profile/profiler.ts';

const script = `
  const compute = (name) => {
    let sum = 0;
    for (let turn = 0; turn < 3e6; turn += 1) sum += turn % 7;
    console.log(name, sum);
  };
  function rest() { compute('rest'); }
  function burn() { compute('burn'); }
  let timer = setInterval(rest, 1);
  process.stdin.on('data', () => {
    clearInterval(timer);
    timer = setInterval(burn, 1);
  });
`;

test('a step of another process is profiled, and nothing before it', async () => {
  const profiler = createProfiler('processor');
  const process_ = await profiler.prepare();
  const child = spawn(process.execPath, ['-e', script], {
    env: process_.environment,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const lines = createInterface(child.stdout);
  const lineOf = async (name: string) => {
    for (;;) if (String((await once(lines, 'line'))[0]).startsWith(name)) return;
  };
  try {
    await process_.attach();
    await process_.during(() => lineOf('rest'), ['another sample']);
    expect(profiler.profiles).toEqual([]);
    child.stdin.write('now');
    await lineOf('burn');
    await process_.during(async () => {
      for (let count = 0; count < 20; count += 1) await lineOf('burn');
    }, ['processor', 'added']);
  } finally {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  const expenses = findExpensive(profiler.profiles, 1_000);
  const totalOf = (name: string) => expenses.find((expense) => expense.name.startsWith(`${name} `))?.total ?? 0;
  // V8 may compile `compute` into its callers.
  expect(totalOf('burn')).toBeGreaterThan(0.5);
  expect(totalOf('rest')).toBeLessThan(0.1);
  expect(renderExpenses(expenses)).toMatch(/^ +own +total +function\n +\d+\.\d % +\d+\.\d % +\w+ /);
});

test('time that a function shares with those it calls is told apart; idle time does not count', () => {
  const node = (id: number, functionName: string, children: number[] = []) => ({
    id,
    callFrame: { functionName, scriptId: '0', url: '', lineNumber: 0, columnNumber: 0 },
    children,
  });
  const profile = {
    nodes: [node(1, '(root)', [2, 4]), node(2, 'outer', [3]), node(3, 'inner'), node(4, '(idle)')],
    startTime: 0,
    endTime: 0,
    samples: [2, 3, 3, 4],
    timeDeltas: [100, 200, 100, 5000],
  };
  expect(findExpensive([profile], 2)).toEqual([
    { name: 'inner', own: 0.75, total: 0.75 },
    { name: 'outer', own: 0.25, total: 1 },
  ]);
});

test('a row is named by its measurement and its sample; a wrong name lists them all', () => {
  expect(readCommand(['--profile', 'events/processor']).profile?.title).toBe('streamed event, processor time');
  expect(readCommand(['--profile', 'server/processor128']).profile?.gateway).toBe('server');
  expect(() => readCommand(['--profile', 'events'])).toThrow(/no such row: events.*\n {2}events\/processor /s);
  expect(() => readCommand(['--profile', 'size/total'])).toThrow('no such row');
});
