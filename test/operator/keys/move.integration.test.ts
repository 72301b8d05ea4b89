import { writeFileSync } from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { hashKey, type KeyRecord } from '../../../lambda/identity/issued-keys.ts';
import { stores, type TestStore } from '../../support/stores.ts';
import { now, startKeysProgram } from './keys-program.ts';

const program = await startKeysProgram();
let folder: Awaited<ReturnType<typeof mkdtempDisposable>>;
const opened: TestStore[] = [];
beforeAll(async () => {
  folder = await mkdtempDisposable(join(tmpdir(), 'gateway-move-'));
});
afterAll(async () => {
  await folder.remove();
  for (const store of opened) await store[Symbol.asyncDispose]();
  await program.close();
});

const open = async (kind: keyof typeof stores) => {
  const store = await stores[kind](() => now);
  opened.push(store);
  return store.adminStore;
};
const fileWith = (name: string, text: string) => {
  const path = join(folder.path, name);
  writeFileSync(path, text);
  return path;
};

const full: KeyRecord = {
  ...{ id: 'key_full', member: 'oidc:ada', label: 'läptop', limit: 7, budget: 20_000_000, budgetWindow: 'month' },
  ...{ models: ['acme'], burst: 60, createdAt: 1, expiresAt: now + 1, renewable: true },
};
const plain: KeyRecord = { id: 'key_plain', member: 'eve', createdAt: 2 };
const [hash, otherHash] = [hashKey('ltk_full'), hashKey('ltk_plain')];

describe.each([
  ['DynamoDB', 'SQLite'],
  ['SQLite', 'DynamoDB'],
] as const)('from %s to %s', (from, to) => {
  test('keys move with all that they were given, and nobody learns them on the way', async () => {
    const [source, target] = [await open(from), await open(to)];
    await source.keys.put(hash, full);
    await source.keys.put(otherHash, plain);
    await source.members.takeSlot(full.member, { hash, takenAt: 1 }, 5);
    const exported = await program.runOn(source, 'export');
    expect(exported).not.toContain('ltk_');
    const file = fileWith(`${from}.jsonl`, exported);
    expect(await program.runOn(target, 'import', file)).toMatch(/^2 keys imported, 0 that were there already/);
    expect(await target.keys.findKey(hash)).toEqual(full);
    expect(await target.keys.findKey(otherHash)).toEqual(plain);
    expect(await target.members.readSlots(full.member)).toEqual([{ hash, takenAt: 1 }]);
    expect(await target.keys.anyKeyIssued()).toBe(true);
    // What has been changed there since stays, but for what is revoked.
    await target.keys.change('key_full', { limit: 9 });
    await source.keys.revoke('key_full', now);
    const again = fileWith(`${from}-again.jsonl`, await program.runOn(source, 'export'));
    expect(JSON.parse(await program.runOn(target, 'import', again, '--json'))).toEqual({
      imported: 0,
      kept: 1,
      revoked: 1,
    });
    expect(await target.keys.findKey(hash)).toEqual({ ...full, limit: 9, revokedAt: now });
  });
});

const heading = '{"format":"keys of a private inference gateway","version":1}';
const line = (key: object) => JSON.stringify({ hash, key: { ...plain, ...key } });
const noExports = [
  ['', /^it has no heading of an export: make the file/],
  ['{"format":"keys of a private inference gateway","version":2}', /^it has no heading of an export: make the file/],
  [`${heading}\n${line({})}\n{"hash":"x","key":{}}`, /^line 3 is no key of an export: nothing is imported/],
  [`${heading}\n${line({ limit: -1 })}`, /^line 2 is no key/],
  [`${heading}\n${line({ limit: '5' })}`, /^line 2 is no key/],
  [`${heading}\n${line({ budget: 5 })}`, /^line 2 is no key/],
  [`${heading}\n${line({ admin: true })}`, /^line 2 is no key/],
  [`${heading}\n${line({ createdAt: 8.64e15 + 1 })}`, /^line 2 is no key/],
  [`${heading}\n${line({ id: undefined })}`, /^line 2 is no key/],
  [`${heading}\n{"member":"ada","slot":{"hash":"${hash}"}}`, /^line 2 is no key/],
] as const;
test('a file that is no export changes nothing', async () => {
  const target = await open('SQLite');
  for (const [text, sentence] of noExports) {
    await expect(program.runOn(target, 'import', fileWith('wrong.jsonl', text))).rejects.toThrow(sentence);
  }
  expect(await target.keys.list()).toEqual([]);
});

test('what npm writes before an export is no part of it', async () => {
  const target = await open('SQLite');
  const banner = '\n> gateway@1.0.0 keys\n> node bin/keys.ts export\n\n';
  const file = fileWith('with-banner.jsonl', `${banner}${heading}\n${line({})}`);
  expect(await program.runOn(target, 'import', file)).toMatch(/^1 key imported/);
  const wrong = fileWith('wrong-line.jsonl', `${banner}${heading}\n${line({})}\n{}`);
  await expect(program.runOn(target, 'import', wrong)).rejects.toThrow(/^line 7 is no key/);
});

test('a file that is not there is named', async () => {
  await expect(program.run('import', '/nowhere')).rejects.toThrow('there is no file /nowhere');
});
