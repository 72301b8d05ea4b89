import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

const folder = mkdtempSync(join(tmpdir(), 'gateway-synth-'));

/** That of cdk.json, with an upstream that may exist. */
const { context } = JSON.parse(readFileSync('cdk.json', 'utf8'));
Object.assign(context.gateway.defaults, { UPSTREAM_BASE_URL: 'https://api.acme.com/v1' });
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs the app as the CDK's command line does: with the context of cdk.json, and a folder to write to. */
function synthesize(context: unknown) {
  // The stack's own test validates the templates.
  const app = { CDK_OUTDIR: folder, CDK_CONTEXT_JSON: JSON.stringify(context), CDK_VALIDATION: 'false' };
  const environment = { ...process.env, ...app };
  return spawnSync(process.execPath, ['bin/gateway.ts'], { env: environment, encoding: 'utf8' });
}

test('a wrong deployment is refused in plain lines, one for each fault', () => {
  const defaults = { UPSTREAM_BASE_URL: 'nowhere', UPSTREAM_TEXT_MODEL: 'a' };
  const gateway = { defaults, stages: { prod: { GUESTS_LIMIT: 1 } } };
  const { status, stderr, stdout } = synthesize({ gateway, stage: 'prod' });
  expect(stderr.trimEnd().split('\n')).toEqual([
    'cdk.json, gateway.stages.prod: GUESTS_LIMIT is not a known setting: did you mean GUEST_LIMIT?',
    expect.stringMatching(/^cdk.json, gateway.defaults: UPSTREAM_BASE_URL must be an http\(s\) URL/),
    expect.stringMatching(/^cdk.json, gateway.stages.prod: UPSTREAM_VISION_MODEL is missing/),
  ]);
  expect([status, stdout]).toEqual([1, '']);
}, 30_000);

test.each([
  [{ edge: true }, 'E0123456789', ['EdgeAlarms', 'InferenceGateway']],
  [{ edge: true }, undefined, ['InferenceGateway']],
  [{ engine: 'web', memorySize: '' }, 'E0123456789', ['InferenceGateway']],
])(
  'with %j, -c distribution=%s makes the stacks %j without a word, with the server that it runs',
  (stage, distribution, stacks) => {
    rmSync(folder, { recursive: true });
    const gateway = { ...context.gateway, stages: { dev: stage } };
    const { status, stderr, stdout } = synthesize({ ...context, commit: '', gateway, distribution });
    expect([status, stderr + stdout]).toEqual([0, '']);
    const templates = readdirSync(folder).filter((file) => file.endsWith('.template.json'));
    expect(templates.sort()).toEqual(stacks.map((name) => `${name}.template.json`));
    expect(existsSync(join(folder, 'server/index.js'))).toBe('engine' in stage);
  },
  60_000,
);

test('an invalid id of a distribution is refused', () => {
  const { status, stderr } = synthesize({ ...context, distribution: 'api.example.com' });
  expect([status, stderr]).toEqual([1, expect.stringMatching(/^-c distribution must be the id of the distribution/)]);
}, 30_000);

describe('cdk synth', () => {
  const home = join(folder, 'home');
  beforeAll(() => {
    mkdirSync(home, { recursive: true });
    writeFileSync(join(home, '.cdk.json'), '{"context": {"stack": "mine"}}');
  });
  const synth = (...context: readonly string[]) => {
    const words = ['synth', '--quiet', ...context.flatMap((one) => ['-c', one]), '--output', join(folder, 'synth')];
    const PATH = `${dirname(process.execPath)}${delimiter}${process.env.PATH}`;
    const env = { ...process.env, PATH, HOME: home, https_proxy: 'http://127.0.0.1:9' };
    return spawnSync(process.execPath, ['node_modules/aws-cdk/bin/cdk', ...words], { env, encoding: 'utf8' });
  };

  test('validates a stage without the network, and says nothing but what an operator should look at', () => {
    const { status, stdout, stderr } = synth('stage=prod', 'colour=red');
    expect(status).toBe(0);
    // The cdk.json of this repository has an upstream that does not exist, and no address for alarms.
    expect((stdout + stderr).trim().split('\n')).toEqual([
      'warning: -c colour does nothing (there are: stage, commit, distribution)',
      expect.stringMatching(/^warning: cdk\.json, gateway\.stages\.prod: alarmEmail is not set: /),
      expect.stringMatching(/^warning: cdk\.json, gateway\.defaults: UPSTREAM_BASE_URL is an example, /),
    ]);
  }, 60_000);

  test('refuses a slip in the context', () => {
    const { status, stderr } = synth('stag=prod', 'GUEST_LIMIT=7', 'colour=red');
    expect(status).toBe(1);
    expect(stderr.split('\n').filter((line) => line.includes('-c '))).toEqual([
      'warning: -c colour does nothing (there are: stage, commit, distribution)',
      '-c stag does nothing: did you mean -c stage=prod?',
      expect.stringMatching(/^-c GUEST_LIMIT does nothing: settings stand in cdk\.json under gateway/),
    ]);
  }, 60_000);
});
