import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, expect, jest, test } from '@jest/globals';

jest.setTimeout(60_000);

const folder = mkdtempSync(join(tmpdir(), 'gateway-synth-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** That of cdk.json, with an upstream that may exist. */
const { context } = JSON.parse(readFileSync('cdk.json', 'utf8'));
Object.assign(context.gateway.defaults, { UPSTREAM_BASE_URL: 'https://api.acme.com/v1' });

// ../lib/cdk-rules.integration.test.ts validates the templates.
const shared = { ...process.env, CDK_VALIDATION: 'false' };

/** Runs the app as the CDK's command line does: with the context of cdk.json, and a folder to write to. */
function synthesize(context: unknown) {
  const env = { ...shared, CDK_OUTDIR: folder, CDK_CONTEXT_JSON: JSON.stringify(context) };
  return spawnSync(process.execPath, ['bin/gateway.ts'], { env, encoding: 'utf8' });
}

test('whatever is wrong is refused together in plain lines, one for each fault', () => {
  const defaults = { UPSTREAM_BASE_URL: 'nowhere', UPSTREAM_TEXT_MODEL: 'a' };
  const gateway = { defaults, stages: { prod: { GUESTS_LIMIT: 1 } } };
  const { status, stderr, stdout } = synthesize({ gateway, stage: 'prod', stag: 'dev', distribution: 'example.com' });
  expect(stderr.trimEnd().split('\n')).toEqual([
    expect.stringMatching(/^-c stag does nothing: /),
    '-c distribution must be the id of the distribution, as the output EdgeDistribution has it',
    'cdk.json, gateway.stages.prod: GUESTS_LIMIT is not a known setting: docs/settings.md lists all',
    expect.stringMatching(/^cdk.json, gateway.defaults: UPSTREAM_BASE_URL must be an http\(s\) URL/),
    expect.stringMatching(/^cdk.json, gateway.stages.prod: UPSTREAM_VISION_MODEL is missing/),
  ]);
  expect([status, stdout]).toEqual([1, '']);
});

test.each([
  [{ edge: true, canary: true }, ['EdgeAlarms', 'InferenceGateway'], ['accounts', 'canary', 'gateway']],
  [{ engine: 'web', memorySize: '' }, ['InferenceGateway'], ['accounts', 'gateway', 'server']],
])('%j makes the stacks %j without a word, with the code that they run', (stage, stacks, code) => {
  const gateway = { ...context.gateway, stages: { dev: stage } };
  const { status, stderr, stdout } = synthesize({ ...context, commit: '', gateway, distribution: 'E0123456789' });
  expect([status, stderr + stdout]).toEqual([0, '']);
  const templates = readdirSync(folder).filter((file) => file.endsWith('.template.json'));
  expect(templates.sort()).toEqual(stacks.map((name) => `${name}.template.json`));
  const built = readdirSync(folder).filter((name) => existsSync(join(folder, name, 'index.mjs')) || name === 'server');
  expect(built.filter((name) => !name.startsWith('asset.'))).toEqual(code);
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
});

test('cdk synth needs no network, and says nothing but what an operator should look at', () => {
  const HOME = join(folder, 'home');
  mkdirSync(HOME);
  writeFileSync(join(HOME, '.cdk.json'), '{"context": {"stack": "mine"}}');
  const PATH = `${dirname(process.execPath)}${delimiter}${process.env.PATH}`;
  const env = { ...shared, PATH, HOME, https_proxy: 'http://127.0.0.1:9' };
  const words = ['synth', '--quiet', '-c', 'stage=prod', '--output', join(folder, 'synth')];
  const cdk = join('node_modules', 'aws-cdk', 'bin', 'cdk');
  const { status, stdout, stderr } = spawnSync(process.execPath, [cdk, ...words], { env, encoding: 'utf8' });
  // The cdk.json of this repository has an upstream that does not exist, and no address for alarms.
  expect((stdout + stderr).trim().split('\n')).toEqual([
    expect.stringMatching(/^warning: cdk\.json, gateway\.stages\.prod: alarmEmail is not set: /),
    expect.stringMatching(/^warning: cdk\.json, gateway\.defaults: UPSTREAM_BASE_URL is an example, /),
  ]);
  expect(status).toBe(0);
});
