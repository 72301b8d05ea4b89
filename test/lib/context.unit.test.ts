import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { judgeContext, readConfigured } from '../../lib/context.ts';

const nowhere = { project: [], elsewhere: [] };
const place = 'settings stand in cdk.json under gateway, in defaults or in a stage';

describe('a name in the context', () => {
  test.each([
    ['stag', 'prod', 'did you mean -c stage=prod?'],
    ['stg', 'prod', 'did you mean -c stage=prod?'],
    ['tage', 'prod', 'did you mean -c stage=prod?'],
    ['Stage', 'prod', 'did you mean -c stage=prod?'],
    ['comit', '', 'did you mean -c commit=?'],
    ['distributon', 'E1', 'did you mean -c distribution=E1?'],
    ['GUEST_LIMT', '7', `did you mean GUEST_LIMIT? (${place})`],
    ['guestLimit', '7', `did you mean GUEST_LIMIT? (${place})`],
    ['UPSTREAM_3_BASE', 'x', `did you mean UPSTREAM_3_BASE_URL? (${place})`],
    ['GUEST_LIMIT', '7', place],
    ['engine', 'web', place],
    ['UPSTREAM_2_BASE_URL', 'https://host/v1', place],
  ])('that is misspelt or a setting is a fault: %s', (name, value, remedy) => {
    expect(judgeContext({ [name]: value }, nowhere)).toEqual({
      faults: [`-c ${name} does nothing: ${remedy}`],
      warnings: [],
    });
  });

  test.each([
    ['UPSTREAM_API_KEYS', 'belongs in a secret, not in a template'],
    ['UPSTREAM_2_API_KEYS', 'belongs in a secret, not in a template'],
    ['NETWORK_SALT', 'belongs in a secret, not in a template'],
    ['KEYS_TABLE', 'is set by the stack'],
  ])('that stands for a setting of no template is refused as in cdk.json: %s', (name, fault) => {
    expect(judgeContext({ [name]: 'x' }, nowhere).faults).toEqual([`${name} ${fault}`]);
  });

  test.each(['foo', 'colour', 'environment', 'image', 'tags', 'team', 'config', 'org:owner'])(
    'that nobody knows is a warning: %s',
    (name) => {
      expect(judgeContext({ [name]: 'x' }, nowhere)).toEqual({
        faults: [],
        warnings: [`-c ${name} does nothing (there are: stage, commit, distribution)`],
      });
    },
  );

  test('that is the gateway’s or AWS’s own passes', () => {
    const names = ['gateway', 'stage', 'commit', 'distribution', 'aws:cdk:enable-path-metadata'];
    const ofAws = ['@aws-cdk/core:checkSecretUsage', '@aws-cdk-containers/x:y', 'cli-telemetry', 'cdk-migrate'];
    const context = Object.fromEntries([...names, ...ofAws].map((name) => [name, 'x']));
    expect(judgeContext(context, nowhere)).toEqual({ faults: [], warnings: [] });
  });

  test('that a person’s own files have passes, but for a setting beside the block in cdk.json', () => {
    const passes = { faults: [], warnings: [] };
    expect(judgeContext({ stack: 1, team: 'a' }, { project: ['stack', 'team'], elsewhere: [] })).toEqual(passes);
    expect(judgeContext({ engine: 1, team: 'a' }, { project: [], elsewhere: ['engine', 'team'] })).toEqual(passes);
    const { faults } = judgeContext({ GUEST_LIMIT: 7 }, { project: ['GUEST_LIMIT'], elsewhere: [] });
    expect(faults).toEqual([`-c GUEST_LIMIT does nothing: ${place}`]);
  });
});

describe('the files of a person', () => {
  const [folder, home] = [0, 1].map(() => mkdtempSync(join(tmpdir(), 'context-'))) as [string, string];
  afterAll(() => {
    for (const made of [folder, home]) rmSync(made, { recursive: true });
  });

  test('may be missing, or without context', () => {
    expect(readConfigured(folder, home)).toEqual(nowhere);
    writeFileSync(join(folder, 'cdk.json'), '{"app": "x"}');
    expect(readConfigured(folder, home)).toEqual(nowhere);
  });

  test('are cdk.json, cdk.context.json and ~/.cdk.json', () => {
    writeFileSync(join(folder, 'cdk.json'), '{"app": "x", "context": {"one": 1}}');
    writeFileSync(join(folder, 'cdk.context.json'), '{"two": 2}');
    writeFileSync(join(home, '.cdk.json'), '{"context": {"three": 3}}');
    expect(readConfigured(folder, home)).toEqual({ project: ['one'], elsewhere: ['two', 'three'] });
  });
});
