import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readCommand } from '../../bench/command.ts';
import { addSamples, emptyResults } from '../../bench/results.ts';

describe('the words of a command', () => {
  test('choose measurements, in their own order', () => {
    expect(readCommand([]).names).toHaveLength(9);
    expect(readCommand([]).names).not.toContain('server');
    expect(readCommand(['--only', 'server']).names).toEqual(['server']);
    const { names, rounds, goals } = readCommand(['--only', 'events', '--only', 'size', '--rounds', '2', '--goals']);
    expect({ names, rounds, goals }).toEqual({ names: ['size', 'events'], rounds: 2, goals: true });
  });

  test.each([
    [['--only', 'event'], 'no such measurement: event'],
    [['--only', 'size', '--only', 'foo'], 'no such measurement: foo'],
    [['--rounds', '0'], '--rounds takes a number from 1'],
    [['--rounds', 'many'], '--rounds takes a number from 1'],
    [['events'], "Unexpected argument 'events'"],
    [['--goal'], "Unknown option '--goal'"],
  ])('may be wrong: %j', (words, message) => {
    expect(() => readCommand(words)).toThrow(message);
  });
});

describe('the bench', () => {
  const checkout = mkdtempSync(join(tmpdir(), 'gateway-bench-'));
  beforeAll(() => {
    const parts = ['bench', 'lib', 'lambda', 'local', 'package.json', 'test/support'];
    for (const part of parts) {
      cpSync(part, join(checkout, part), {
        recursive: true,
        filter: (path) => !/(bench.results|node_modules)$/.test(path),
      });
    }
    symlinkSync(join(process.cwd(), 'node_modules'), join(checkout, 'node_modules'));
  });
  afterAll(() => rmSync(checkout, { recursive: true }));

  const run = (...words: string[]) =>
    spawnSync(process.execPath, ['bench/run.ts', ...words], { cwd: checkout, encoding: 'utf8' });

  test('explains its usage, on request and after mistakes', () => {
    const asked = run('--help');
    expect([asked.status, asked.stderr]).toEqual([0, '']);
    const erred = run('--rounds', '0');
    expect([erred.status, erred.stdout]).toEqual([2, '']);
    expect(erred.stderr).toBe(`--rounds takes a number from 1\n\n${asked.stdout}`);
  });

  test('shows the latest results with their versions, and calls nothing good that was not measured', () => {
    expect(run('--last')).toMatchObject({ status: 1, stderr: expect.stringMatching('there are no results yet') });
    const results = emptyResults(new Date('2026-11-21'));
    for (const name of ['bare', 'bareDynamoDb', 'gateway'] as const)
      addSamples(results, 'size', name, { total: [401] });
    mkdirSync(join(checkout, 'bench/results'));
    writeFileSync(join(checkout, 'bench/results/2026.json'), JSON.stringify(results));

    const shown = run('--last', '--only', 'size', '--goals');
    expect(shown.status).toBe(1);
    expect(shown.stdout).toMatch(/^Node v\d+\S+, esbuild .*, aws-lambda-ric \d+\S+$/m);
    expect(shown.stdout).toMatch('≤ 400 KB ✗');
    const nothing = run('--last', '--only', 'events', '--goals');
    expect(nothing).toMatchObject({ status: 1, stdout: '', stderr: expect.stringMatching('hold none of these') });
  });
});
