import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';

const folder = mkdtempSync(join(tmpdir(), 'gateway-synth-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs the app as the CDK's command line does: with the context of cdk.json, and a folder to write to. */
function synthesize(context: unknown) {
  const environment = { ...process.env, CDK_OUTDIR: folder, CDK_CONTEXT_JSON: JSON.stringify(context) };
  return spawnSync(process.execPath, ['bin/gateway.ts'], { env: environment, encoding: 'utf8' });
}

test('a wrong deployment is refused in plain lines, one for each fault', () => {
  const gateway = {
    memorySize: 512,
    logRetentionDays: 30,
    UPSTREAM_BASE_URL: 'nowhere',
    UPSTREAM_TEXT_MODEL: 'a',
    SIZE: 1,
  };
  const { status, stderr, stdout } = synthesize({ gateway });
  expect(stderr.trimEnd().split('\n')).toEqual([
    'cdk.json, gateway: SIZE is no known setting',
    expect.stringMatching(/^cdk.json, gateway: UPSTREAM_BASE_URL must be an http\(s\) URL/),
    expect.stringMatching(/^cdk.json, gateway: UPSTREAM_VISION_MODEL is missing/),
  ]);
  expect([status, stdout]).toEqual([1, '']);
}, 30_000);

test('without its block in cdk.json nothing is synthesized', () => {
  const { status, stderr } = synthesize({});
  expect([status, stderr]).toEqual([1, 'cdk.json, gateway: must be an object\n']);
}, 30_000);
