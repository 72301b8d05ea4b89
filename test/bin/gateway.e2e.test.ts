import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, jest, test } from '@jest/globals';

jest.setTimeout(60_000);

const folder = mkdtempSync(join(tmpdir(), 'gateway-synth-'));
/** A checkout without settings of an operator's. */
const cwd = mkdtempSync(join(tmpdir(), 'gateway-checkout-'));
afterAll(() => {
  for (const made of [folder, cwd]) rmSync(made, { recursive: true });
});

/** That of cdk.json, with an upstream that may exist, and a limit on what it is asked. */
const { context } = JSON.parse(readFileSync('cdk.json', 'utf8'));
Object.assign(context.gateway.defaults, { UPSTREAM_BASE_URL: 'https://api.acme.com/v1', DAILY_LIMIT: 1000 });

/** Runs the app as the CDK's command line does: with the context of cdk.json, and a folder to write to. */
function synthesize(context: unknown) {
  // ../lib/cdk-rules.integration.test.ts validates the templates.
  const env = {
    ...process.env,
    CDK_VALIDATION: 'false',
    CDK_OUTDIR: folder,
    CDK_CONTEXT_JSON: JSON.stringify(context),
  };
  return spawnSync(process.execPath, [join(process.cwd(), 'bin/gateway.ts')], { cwd, env, encoding: 'utf8' });
}

test('whatever is wrong is refused together in plain lines, one for each fault', () => {
  const defaults = { UPSTREAM_BASE_URL: 'nowhere' };
  const gateway = { defaults, stages: { prod: { GUESTS_LIMIT: 1 } } };
  const { status, stderr, stdout } = synthesize({ gateway, stage: 'prod', stag: 'dev', distribution: 'example.com' });
  expect(stderr.trimEnd().split('\n')).toEqual([
    expect.stringMatching(/^-c stag does nothing: /),
    '-c distribution must be the id of the distribution, as the output EdgeDistribution has it',
    'cdk.json, gateway.stages.prod: GUESTS_LIMIT is not a known setting: did you mean GUEST_LIMIT?',
    expect.stringMatching(/^cdk.json, gateway.defaults: UPSTREAM_BASE_URL must be an http\(s\) URL/),
    expect.stringMatching(/^cdk.json, gateway.stages.prod: UPSTREAM_TEXT_MODEL is missing/),
  ]);
  expect([status, stdout]).toEqual([1, '']);
});

test('a stage that is in no file is refused with those that are, so that a slip makes no new stack', () => {
  const { status, stderr, stdout } = synthesize({ ...context, stage: 'prd' });
  expect([status, stderr, stdout]).toEqual([
    1,
    'cdk.json, gateway.stages: prd is no stage (there are: dev, prod)\n',
    '',
  ]);
});

test.each([
  [
    { edge: true, APP_URL: 'https://d1.cloudfront.net', canary: true },
    ['EdgeAlarms', 'InferenceGateway'],
    ['accounts', 'canary', 'gateway'],
    /^$/,
  ],
  [
    { engine: 'web', logRetentionDays: 400 },
    ['InferenceGateway'],
    ['accounts', 'server'],
    // Anything else that the template breaks would stop the synthesis: this is the operator's wish.
    /^(warning: \w+Logs\w+ is not private: records for more than a year who called when\n){4}$/,
  ],
])('%j makes the stacks %j, with the code that they run, %j, and says no more than %s', (stage, stacks, code, said) => {
  const gateway = { ...context.gateway, stages: { dev: stage } };
  const { status, stderr, stdout } = synthesize({ ...context, commit: '', gateway, distribution: 'E0123456789' });
  expect([status, stderr + stdout]).toEqual([0, expect.stringMatching(said)]);
  const templates = readdirSync(folder).filter((file) => file.endsWith('.template.json'));
  expect(templates.sort()).toEqual(stacks.map((name) => `${name}.template.json`));
  const built = readdirSync(folder).filter((name) => existsSync(join(folder, name, 'index.mjs')) || name === 'server');
  expect(built.filter((name) => !name.startsWith('asset.'))).toEqual(code);
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
});
