import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createEnvFile } from '../../../operator/upstream-key/env-file.ts';
import { addParts, fingerprint, removePart } from '../../../operator/upstream-key/members.ts';

const first = 'UPSTREAM_API_KEYS';
let folder = '';
let path = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'env-file-'));
  path = join(folder, 'gateway.env');
});
afterEach(() => rmSync(folder, { recursive: true }));

const add = (key: string, member = first) => createEnvFile(path).edit((members) => addParts(members, member, key));
const remove = (member: string, which?: string) =>
  createEnvFile(path).edit((members) => removePart(members, member, which));

test.each<[what: string, before: string, after: string]>([
  ['a list', 'A=1\nUPSTREAM_API_KEYS=sk-a\n# the end\n', 'A=1\nUPSTREAM_API_KEYS=sk-a,sk-b\n# the end\n'],
  ['a list in quotes', "export UPSTREAM_API_KEYS='sk-a' # ours\nA='1 2'", "UPSTREAM_API_KEYS=sk-a,sk-b\nA='1 2'"],
  ['no list', '# none\nA=1', '# none\nA=1\nUPSTREAM_API_KEYS=sk-b\n'],
  ['an empty list', 'UPSTREAM_API_KEYS=\r\nA=1\r\n', 'UPSTREAM_API_KEYS=sk-b\nA=1\r\n'],
])('a key is added to %s, and every other line stays as it is', async (_what, before, after) => {
  writeFileSync(path, before);
  await add('sk-b');
  expect(readFileSync(path, 'utf8')).toBe(after);
});

test('a key is removed, and with the last one its line', async () => {
  writeFileSync(path, 'UPSTREAM_API_KEYS=sk-a,sk-b\nUPSTREAM_2_API_KEYS=sk-c\n');
  await remove(first, fingerprint('sk-a'));
  await remove('UPSTREAM_2_API_KEYS');
  expect(readFileSync(path, 'utf8')).toBe('UPSTREAM_API_KEYS=sk-b\n');
});

test('the file keeps its mode and its place behind a link, and nothing is left beside it', async () => {
  const real = join(folder, 'real.env');
  writeFileSync(real, 'A=1\n');
  chmodSync(real, 0o640);
  symlinkSync(real, path);
  await add('sk-b');
  expect(readFileSync(real, 'utf8')).toBe('A=1\nUPSTREAM_API_KEYS=sk-b\n');
  expect([statSync(real).mode & 0o777, readdirSync(folder).sort()]).toEqual([0o640, ['gateway.env', 'real.env']]);
});

test.each<[what: string, text: string, key: string, said: RegExp]>([
  [
    'a key that programs read differently',
    'A=1\n',
    'sk-$b#c',
    /^UPSTREAM_API_KEYS has characters that Node, systemd, Docker and a shell/,
  ],
  [
    'a list that stands twice',
    'UPSTREAM_API_KEYS=sk-a\nUPSTREAM_API_KEYS=sk-c\n',
    'sk-b',
    /^its keys stand there twice/,
  ],
  [
    'a list that only looks like one',
    'A="x\nUPSTREAM_API_KEYS=sk-a\n"\n',
    'sk-b',
    /^its keys stand there twice, or over/,
  ],
  [
    'a host with a secret',
    'UPSTREAM_SECRET_ID=keys\n',
    'sk-b',
    /gateway\.env has no keys, but .* --stack that made keys$/,
  ],
])('%s is refused, and changes nothing', async (_what, text, key, said) => {
  writeFileSync(path, text);
  await expect(add(key)).rejects.toThrow(said);
  expect([readFileSync(path, 'utf8'), readdirSync(folder)]).toEqual([text, ['gateway.env']]);
});

test('headers of a host are for an editor', async () => {
  writeFileSync(path, 'A=1\n');
  await expect(add('{"x-a": "b"}', 'UPSTREAM_HEADERS')).rejects.toThrow(/^UPSTREAM_HEADERS .* edit it by hand$/);
});

test('while somebody edits it nobody else can, and is told what to do if nobody does', async () => {
  writeFileSync(path, 'A=1\n');
  writeFileSync(`${path}.editing`, '');
  await expect(add('sk-d')).rejects.toThrow(/^somebody else edits .*; if nobody does, remove .*gateway\.env\.editing$/);
});

test('a file that is not there is named', async () => {
  await expect(createEnvFile(path).read()).rejects.toThrow(/gateway\.env can't be read: ENOENT/);
  await expect(add('sk-b')).rejects.toThrow(/gateway\.env can't be read: ENOENT/);
});
