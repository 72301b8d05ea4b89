import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { openLogFile, readLogFile } from '../../local/log-file.ts';

const owner = { port: 8787, pid: 42 };

let directory = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'log-test-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

test('lines can be read back, only by their owner, until the file is removed', () => {
  const file = openLogFile(owner, directory);
  file.write('{"a":1}\n');
  file.write('{"b":"ü"}\n');
  expect(readLogFile(owner, directory)).toEqual(['{"a":1}', '{"b":"ü"}']);
  const [name = ''] = readdirSync(directory);
  expect(statSync(join(directory, name)).mode & 0o777).toBe(0o600);
  file.remove();
  file.write('late\n');
  expect(readdirSync(directory)).toEqual([]);
  expect(readLogFile(owner, directory)).toEqual([]);
});

test('it never has more than two parts, and loses the oldest lines first', () => {
  const file = openLogFile(owner, directory, 100);
  for (let line = 0; line < 100; line += 1) file.write(`line ${`${line}`.padStart(3, '0')}\n`);
  const sizes = readdirSync(directory).map((name) => statSync(join(directory, name)).size);
  expect(sizes).toHaveLength(2);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(100);
  const lines = readLogFile(owner, directory);
  expect(lines.at(-1)).toBe('line 099');
  expect(lines).toEqual(lines.toSorted());
  file.remove();
  expect(readdirSync(directory)).toEqual([]);
});

test('a gateway removes the files that a killed one left for its port, and nothing else', () => {
  for (const name of ['log-8787-7', 'log-8787-7.1', 'log-87870-7', 'gateway-8787.json']) {
    writeFileSync(join(directory, name), 'old\n');
  }
  openLogFile(owner, directory).write('new\n');
  expect(readdirSync(directory).toSorted()).toEqual(['gateway-8787.json', 'log-8787-42', 'log-87870-7']);
});

test('a gateway that ends removes nothing of its successor', () => {
  const before = openLogFile(owner, directory);
  const later = openLogFile({ ...owner, pid: 43 }, directory);
  before.remove();
  later.write('kept\n');
  expect(readLogFile({ ...owner, pid: 43 }, directory)).toEqual(['kept']);
});
